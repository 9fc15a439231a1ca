import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { LoginPlan } from '../../src/agents/port.ts';
import { withFolderLock } from '../../src/agents/loginLock.ts';
import {
  forgetLogin,
  hasLogin,
  holderOf,
  keepLogin,
  loginFolder,
  releaseLogin,
  syncLogin,
  takeLogin,
  type LoginPlace,
} from '../../src/agents/loginStore.ts';
import { identify, signalProcess } from '../../src/machines/processes.ts';
import { observeRunner } from '../../src/machines/runnerControl.ts';
import { MachineRoom, repository, type Started } from '../machines/machineRoom.ts';
import { eventually } from '../rig/faultRun.ts';
import { startLoginServer, type LoginServer } from '../rig/loginServer.ts';

const file = '.codex/auth.json';
const plan: LoginPlan = {
  argv: ['codex', 'login'],
  environment: {},
  files: [file],
  wellFormed(_, content) {
    try {
      return typeof (JSON.parse(content) as { refresh?: unknown }).refresh === 'string';
    } catch {
      return false;
    }
  },
};

let room: MachineRoom;
let server: LoginServer;
let place: LoginPlace;
let count = 0;

beforeEach(async () => {
  room = new MachineRoom();
  server = await startLoginServer();
  place = { folder: loginFolder(room.state, 'codex'), plan };
  const home = join(room.state, 'sign-in');
  write(home, JSON.stringify(server.signIn()));
  if (!(await keepLogin(place, home))) throw new Error('the login was not kept');
});
afterEach(async () => {
  room.close();
  await server[Symbol.asyncDispose]();
});

function write(home: string, content: string): void {
  mkdirSync(join(home, '.codex'), { recursive: true });
  writeFileSync(join(home, file), content);
}
const kept = (): { refresh: string } =>
  JSON.parse(readFileSync(join(place.folder, file), 'utf8')) as { refresh: string };

interface Session {
  readonly home: string;
  readonly nonce: string;
  readonly started: Started;
}

/** What a controller does: takes the login, then starts the harness under a runner. */
async function begin(times: number, how = ''): Promise<Session> {
  const number = ++count;
  const nonce = `${room.base.slice(-6)}-${number}`;
  const home = join(room.state, `home-${number}`);
  mkdirSync(home);
  // the runner's folder as the room will name it
  const dir = join(room.state, `runner-${number}`);
  const taken = await take({ dir, nonce, home });
  if (taken.kind !== 'taken') throw new Error(`the login is ${taken.kind}`);
  const started = await room.start('none', [
    ...([process.execPath, join(repository, 'test/rig/loginHarness.mjs'), join(home, file), server.url] as const),
    String(times),
    how,
  ]);
  if (started.dir !== dir) throw new Error(`the runner's folder is ${started.dir}`);
  return { home, nonce, started };
}
const take = (session: { dir: string; nonce: string; home: string }, controller = identify(process.pid)) =>
  takeLogin(place, {
    run: `run of ${session.nonce}`,
    ...session,
    controller: controller ?? { pid: 0, start: '' },
    since: Date.now(),
  });
const other = (nonce = 'other'): { dir: string; nonce: string; home: string } => {
  const home = join(room.state, `home-of-${nonce}`);
  mkdirSync(home, { recursive: true });
  return { dir: join(room.state, `runner-of-${nonce}`), nonce, home };
};
const ended = ({ started }: Session): Promise<unknown> =>
  eventually('the harness to end', () => observeRunner(started.dir).kind === 'ended');
const output = ({ started }: Session): string => {
  const path = join(started.dir, 'output.log');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};

beforeEach(() => {
  count = 0;
});

describe('a login', () => {
  it('is kept for its owner alone, and outlives six sessions that each renew it', async () => {
    expect(statSync(join(place.folder, file)).mode & 0o777).toBe(0o600);
    for (let option = 1; option <= 6; option++) {
      const session = await begin(2);
      expect(statSync(join(session.home, file)).mode & 0o777).toBe(0o600);
      await ended(session);
      expect(output(session)).toBe('renewed 1\nrenewed 2\n');
      await releaseLogin(place, session.nonce);
      expect(holderOf(place)).toBeNull();
    }
    expect({ exchanges: server.exchanges, reused: server.reused }).toStrictEqual({ exchanges: 12, reused: [] });
    expect(server.isGood(kept().refresh)).toBe(true);
  });

  it('is written back while the session runs', async () => {
    const session = await begin(1, 'pause');
    await eventually('it to be renewed', () => output(session).includes('renewed 1'));
    await syncLogin(place, session.nonce);
    expect(server.isGood(kept().refresh)).toBe(true);
    writeFileSync(join(session.home, `${file}.go`), '');
    await ended(session);
  });

  it('stays valid when the controller is killed in the middle of a refresh: the next run waits, and writes back what the session left', async () => {
    server.hold();
    const session = await begin(1);
    await eventually('the exchange', () => server.exchanges === 1);
    // the controller is gone: nobody syncs or releases. The session lives, between the server's answer and its file.
    expect(await take(other())).toMatchObject({ kind: 'held', holder: { nonce: session.nonce } });
    server.letGo();
    await ended(session);
    expect(await take(other())).toStrictEqual({ kind: 'taken' });
    expect(server.isGood(kept().refresh)).toBe(true);
    expect(server.reused).toStrictEqual([]);
  });

  it('stays valid when the session is killed right after a refresh', async () => {
    const session = await begin(1, 'hang');
    await eventually('it to be renewed', () => output(session).includes('renewed 1'));
    const seen = observeRunner(session.started.dir);
    if (seen.kind !== 'running' || !seen.program) throw new Error(`it is ${seen.kind}`);
    signalProcess(seen.runner, 'SIGKILL');
    signalProcess(seen.program, 'SIGKILL');
    await eventually('the runner to be gone', () => observeRunner(session.started.dir).kind === 'lost');
    expect(await take(other())).toStrictEqual({ kind: 'taken' });
    expect(server.isGood(kept().refresh)).toBe(true);
  });

  it('is never overwritten by a torn file, by a stale copy or through a link', async () => {
    const torn = await begin(1, 'torn');
    await eventually('it to be renewed', () => output(torn).includes('renewed 1'));
    const before = kept();
    await syncLogin(place, torn.nonce);
    expect(kept()).toStrictEqual(before);
    // a person has signed in anew meanwhile
    const home = join(room.state, 'sign-in-again');
    const fresh = server.signIn();
    write(home, JSON.stringify(fresh));
    await keepLogin(place, home);
    write(torn.home, JSON.stringify({ refresh: 'renewed from the old one' }));
    await syncLogin(place, torn.nonce);
    expect(kept()).toStrictEqual(fresh);
    const elsewhere = join(room.state, 'elsewhere');
    write(elsewhere, JSON.stringify({ refresh: 'not ours' }));
    rmSync(join(torn.home, '.codex'), { recursive: true });
    symlinkSync(join(elsewhere, '.codex'), join(torn.home, '.codex'));
    await syncLogin(place, torn.nonce);
    expect(kept()).toStrictEqual(fresh);
    const seen = observeRunner(torn.started.dir);
    if (seen.kind === 'running' && seen.program) signalProcess(seen.program, 'SIGKILL');
    await ended(torn);
  });

  it('is had by one of many sessions that ask at once, and by the next when that one has ended', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => take(other(`n${index}`))));
    expect(answers.filter(({ kind }) => kind === 'taken')).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === 'held')).toHaveLength(11);
    const holder = holderOf(place)?.nonce ?? '';
    await releaseLogin(place, holder === 'n0' ? 'n1' : 'n0'); // not its own: nothing happens
    expect(holderOf(place)?.nonce).toBe(holder);
    await releaseLogin(place, holder);
    expect(await take(other('next'))).toStrictEqual({ kind: 'taken' });
  });

  it('of a session that never started is free when its controller is gone and has had its time', async () => {
    const gone = { pid: 4_000_000, start: '1' };
    const early = { ...other('early'), run: 'r', controller: gone, since: Date.now() - 20_000 };
    expect(await takeLogin(place, early)).toStrictEqual({ kind: 'taken' });
    expect(await take(other('second'))).toMatchObject({ kind: 'held' });
    await releaseLogin(place, 'early');
    expect(await takeLogin(place, { ...early, since: Date.now() - 40_000 })).toStrictEqual({ kind: 'taken' });
    expect(await take(other('second'))).toStrictEqual({ kind: 'taken' });
  });

  it('is forgotten when a person wants it; a session that has it brings it not back', async () => {
    const session = other('mine');
    await take(session);
    expect([await forgetLogin(place), await forgetLogin(place), hasLogin(place)]).toStrictEqual([true, false, false]);
    write(session.home, JSON.stringify({ refresh: 'renewed' }));
    await syncLogin(place, 'mine');
    await releaseLogin(place, 'mine');
    expect(hasLogin(place)).toBe(false);
    expect(await take(other('later'))).toStrictEqual({ kind: 'none' });
  });
});

it('the lock of a process that was killed is taken over; that of a living one is not', async () => {
  const folder = join(room.state, 'locked');
  mkdirSync(folder);
  const script = `import { withFolderLock } from ${JSON.stringify(join(repository, 'src/agents/loginLock.ts'))};
    await withFolderLock(${JSON.stringify(folder)}, async () => { console.log('mine'); await new Promise(() => setTimeout(() => {}, 600000)); });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  let entered = false;
  const mine = withFolderLock(folder, () => (entered = true));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(entered).toBe(false);
  child.kill('SIGKILL');
  await mine;
  expect(entered).toBe(true);
  expect(existsSync(join(folder, 'lock'))).toBe(false);
});
