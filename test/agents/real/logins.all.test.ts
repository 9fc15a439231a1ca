import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { codexLogin, authFile } from '../../../src/agents/codex/login.ts';
import { holderOf, keepLogin, loginFolder } from '../../../src/agents/loginStore.ts';
import { readEndpoint, startRun } from '../../../src/controller/launch.ts';
import { pathWithClis, realAgent, submits } from '../../rig/agentsRun.ts';
import { eventually } from '../../rig/faultRun.ts';
import { startLoginServer, type LoginServer } from '../../rig/loginServer.ts';
import { startModelServer, type ModelServer } from '../../rig/modelServer.ts';
import { endAll, eventsOf, followRun, type TestRun } from '../../rig/run.ts';
import { layOutTask, testFolders, type TestFolders } from '../../rig/task.ts';
import { told } from './pairs.ts';

/** A token as Codex reads it: its signature is not checked, but its claims must be there. Codex renews it when it has expired. */
function token(name: string, lifetimeSeconds: number): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    jti: name,
    email: 'somebody@example.org',
    exp: Math.floor(Date.now() / 1000) + lifetimeSeconds,
    'https://api.openai.com/auth': { chatgpt_plan_type: 'pro', chatgpt_account_id: 'account', chatgpt_user_id: 'user' },
  };
  return `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}.${Buffer.from('signature').toString('base64url')}`;
}

interface LoginRig extends AsyncDisposable {
  readonly folders: TestFolders;
  readonly logins: LoginServer;
  readonly model: ModelServer;
  /** Refresh token that hma keeps now. */
  kept(): string;
  /** Starts a run of two real Codexes on a workspace of its own, with the one login. */
  start(contract: Readonly<Record<string, unknown>>): Promise<TestRun>;
}

/** Each token lives so long: about one session's time, so that most sessions renew it once, as in a night of hour-long sessions. */
const lifetimeSeconds = 312;

async function rig(): Promise<LoginRig> {
  const logins = await startLoginServer(({ access, refresh }) => ({
    id_token: token(`id-${access}`, lifetimeSeconds),
    access_token: token(access, lifetimeSeconds),
    refresh_token: refresh,
  }));
  const model = await startModelServer({ A: submits(1), B: submits(1) });
  const folders = testFolders();
  const place = { folder: loginFolder(folders.home, 'codex'), plan: codexLogin };
  const { access, refresh } = logins.signIn();
  const signedIn = join(folders.root, 'signed-in');
  mkdirSync(join(signedIn, '.codex'), { recursive: true });
  const tokens = {
    id_token: token('id', -60),
    access_token: token(access, -60),
    refresh_token: refresh,
    account_id: 'account',
  };
  writeFileSync(
    join(signedIn, authFile),
    JSON.stringify({ OPENAI_API_KEY: null, tokens, last_refresh: '2026-01-01T00:00:00Z' }),
  );
  await keepLogin(place, signedIn);
  const agent = (slot: 'A' | 'B') =>
    realAgent(model, slot, {
      adapter: 'codex',
      script: [],
      agent: { keyVariable: null, environment: ['CODEX_REFRESH_TOKEN_URL_OVERRIDE'] },
    });
  let runs = 0;
  return {
    folders,
    logins,
    model,
    kept: () =>
      (JSON.parse(readFileSync(join(place.folder, authFile), 'utf8')) as { tokens: { refresh_token: string } }).tokens
        .refresh_token,
    async start(contract) {
      const workspace = join(folders.root, `workspace-${++runs}`);
      mkdirSync(workspace);
      const own = { ...folders, workspace };
      const loaded = await layOutTask(own, {
        A: {},
        B: {},
        contract: { isolation: 'auto', ...contract, agents: { A: agent('A'), B: agent('B') } },
      });
      const env: NodeJS.ProcessEnv = {
        ...process.env,
        PATH: pathWithClis,
        CODEX_REFRESH_TOKEN_URL_OVERRIDE: logins.url,
      };
      delete env['OPENAI_API_KEY'];
      const started = await startRun({ workspace, contract: loaded, home: folders.home, env });
      if (!started.ok) throw new Error(`${started.refusal.text} ${started.refusal.fix}`);
      return followRun(own, started.value);
    },
    async [Symbol.asyncDispose]() {
      await endAll(folders.root);
      folders[Symbol.dispose]();
      await model[Symbol.asyncDispose]();
      await logins[Symbol.asyncDispose]();
    },
  };
}

const budgets = (experiments: number) => ({
  policy: { cap: 1 },
  budgets: { total: '10m', review: '30s', experiments },
});

it('six options of real Codexes renew one login, also with a controller that is killed in the middle of a refresh', async () => {
  await using all = await rig();
  all.logins.hold();
  const run = await all.start(budgets(6));
  await eventually('the first session to renew its login', () => all.logins.exchanges > 0);
  const killed = readEndpoint(run.runFolder)?.pid ?? 0;
  process.kill(killed, 'SIGKILL');
  all.logins.letGo();
  const state = await run.client.until('six options', ({ archive }) => archive.length >= 6, 150_000);
  expect(
    told(state)
      .slice(0, 6)
      .map(({ accepted }) => accepted),
    run.log(),
  ).toEqual([['e1'], ['e2'], ['e3'], ['e4'], ['e5'], ['e6']]);
  await run.finished(60_000);
  expect(readEndpoint(run.runFolder)?.pid).not.toBe(killed);
  expect(all.logins.reused).toEqual([]);
  expect(all.logins.exchanges).toBeGreaterThanOrEqual(3);
  expect(all.logins.isGood(all.kept())).toBe(true);
  expect(all.model.requests.every(({ key }) => key !== null)).toBe(true);
  expect(holderOf({ folder: loginFolder(all.folders.home, 'codex'), plan: codexLogin })).toBeNull();
});

it('two runs at once share one login: one session waits for the other, and no token is spent twice', async () => {
  await using all = await rig();
  const runs = await Promise.all([all.start(budgets(2)), all.start(budgets(2))]);
  for (const run of runs) {
    const state = await run.finished(150_000);
    expect(
      state.archive.map(({ id }) => id),
      run.log(),
    ).toEqual(['e1', 'e2']);
  }
  expect(all.logins.reused).toEqual([]);
  expect(all.logins.isGood(all.kept())).toBe(true);
  const waited = runs
    .flatMap((run) => eventsOf(run.runFolder))
    .filter(({ type, data }) => type === 'run.noticed' && JSON.stringify(data).includes('login_held'));
  expect(waited.length).toBeGreaterThan(0);
});
