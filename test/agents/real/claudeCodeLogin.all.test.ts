import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

import { claudeLogin, credentialsFile } from '../../../src/agents/claudeCode/login.ts';
import { keepLogin, loginFolder } from '../../../src/agents/loginStore.ts';
import { startRun } from '../../../src/controller/launch.ts';
import { until } from '../../machines/machineRoom.ts';
import { clisPath, pathWithClis, realAgent, submits } from '../../rig/agentsRun.ts';
import { startInterceptor } from '../../rig/interceptor.ts';
import { startLoginServer } from '../../rig/loginServer.ts';
import { startModelServer } from '../../rig/modelServer.ts';
import { endAll, followRun } from '../../rig/run.ts';
import { layOutTask, testFolders } from '../../rig/task.ts';
import { told } from './pairs.ts';

/** Claude Code renews a token that has less than five minutes left: each session does. */
const lifetimeSeconds = 302;

it('signs in without a browser, and sessions renew that login one after the other', async () => {
  await using logins = await startLoginServer(({ access, refresh }) => ({
    token_type: 'Bearer',
    access_token: `sk-ant-oat01-${access}`,
    refresh_token: `sk-ant-ort01-${refresh}`,
    expires_in: lifetimeSeconds,
    scope: 'user:inference user:profile',
    account: { uuid: 'account', email_address: 'somebody@example.org' },
    organization: { uuid: 'organization', name: 'Somebody' },
  }));
  await using model = await startModelServer({ A: submits(1), B: submits(1) });
  const folders = testFolders();
  await using intercepted = await startInterceptor(
    join(folders.root, 'authority'),
    ['platform.claude.com', 'api.anthropic.com'],
    async (path, body) => {
      if (path !== '/v1/oauth/token') return null;
      // the code of the sign-in stands for a first token
      const sent = body.includes('authorization_code') ? logins.signIn().refresh : body;
      const answer = await fetch(logins.url, { method: 'POST', body: sent });
      return { status: answer.status, body: await answer.text() };
    },
  );
  const network = { HTTPS_PROXY: intercepted.proxy, NO_PROXY: '127.0.0.1', NODE_EXTRA_CA_CERTS: intercepted.ca };
  try {
    const signedIn = join(folders.root, 'signed-in');
    mkdirSync(signedIn);
    const [program, ...args] = claudeLogin.argv;
    const child = spawn(join(clisPath, program), args, {
      cwd: signedIn,
      env: { PATH: pathWithClis, HOME: signedIn, ...claudeLogin.environment, ...network },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await until('the code to be asked for', () => said.includes('Paste code'), 30_000).catch((error: unknown) => {
      child.kill('SIGKILL');
      throw error;
    });
    child.stdin.write('code#state\n');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code, said).toBe(0);
    expect(said).toContain('https://claude.ai/oauth/authorize');
    const content = readFileSync(join(signedIn, credentialsFile), 'utf8');
    expect(claudeLogin.wellFormed(credentialsFile, content)).toBe(true);
    const place = { folder: loginFolder(folders.home, 'claude-code'), plan: claudeLogin };
    await keepLogin(place, signedIn);

    const agent = (slot: 'A' | 'B') =>
      realAgent(model, slot, {
        adapter: 'claude-code',
        script: [],
        agent: { keyVariable: null, environment: Object.keys(network) },
      });
    const contract = await layOutTask(folders, {
      A: {},
      B: {},
      contract: {
        isolation: { tier: 'auto', readable: [dirname(intercepted.ca)] },
        policy: { cap: 1 },
        budgets: { total: '10m', review: '30s', experiments: 3 },
        agents: { A: agent('A'), B: agent('B') },
      },
    });
    const env: NodeJS.ProcessEnv = { ...process.env, ...network, PATH: pathWithClis };
    for (const name of ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']) delete env[name];
    const started = await startRun({ workspace: folders.workspace, contract, home: folders.home, env });
    if (!started.ok) throw new Error(`${started.refusal.text} ${started.refusal.fix}`);
    await using run = followRun(folders, started.value);
    const state = await run.finished(140_000);
    expect(
      told(state).map(({ accepted }) => accepted),
      run.log(),
    ).toEqual([['e1'], ['e2'], ['e3']]);
    expect(logins.reused).toEqual([]);
    expect(logins.exchanges).toBeGreaterThanOrEqual(3); // the sign-in, and sessions
    const kept = join(place.folder, credentialsFile);
    const { refreshToken } = (JSON.parse(readFileSync(kept, 'utf8')) as { claudeAiOauth: { refreshToken: string } })
      .claudeAiOauth;
    expect(logins.isGood(refreshToken.replace('sk-ant-ort01-', ''))).toBe(true);
    expect(statSync(kept).mode & 0o77).toBe(0);
    expect(model.requests.every(({ key }) => key?.startsWith('sk-ant-oat01-access-') ?? false)).toBe(true);
  } finally {
    await endAll(folders.root);
  }
});
