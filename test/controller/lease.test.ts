import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { systemClock } from '../../src/base/clock.ts';
import {
  acquireLease,
  describeLeaseRefusal,
  leaseCrashPoints,
  readOwner,
  readRunOwner,
  type Lease,
  type LeaseOptions,
  type LeaseRefusal,
} from '../../src/controller/lease.ts';
import { livenessOf, type OwnerRecord } from '../../src/controller/owner.ts';
import { ledgerCrashPoints } from '../../src/ledger/crashPoints.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';
import { freshPlace, startOwner, type Owner } from './ownerRig.ts';

type Place = ReturnType<typeof freshPlace>;

const order = (
  place: Place,
  more: { stateDir?: string; run?: string; socket?: string; takeOver?: boolean; at?: number } = {},
) => ({ do: 'acquire', workspace: place.workspace, stateDir: place.state, run: 'run-1', ...more }) as const;

/** Takes the lease in this process. */
const acquire = (place: Place, more: Partial<LeaseOptions> = {}) =>
  acquireLease({
    workspace: place.workspace,
    stateDir: place.state,
    runId: 'run-1',
    sockets: { client: join(place.root, 'c.sock'), agent: join(place.root, 'a.sock') },
    clock: systemClock,
    ...more,
  });

async function held(place: Place, more: Partial<LeaseOptions> = {}): Promise<Lease> {
  const result = await acquire(place, more);
  if (!result.ok) throw new Error(describeLeaseRefusal(result.refusal));
  return result.value;
}

async function refusal(place: Place, more: Partial<LeaseOptions> = {}): Promise<LeaseRefusal> {
  const result = await acquire(place, more);
  if (result.ok) throw new Error('the lease was given');
  return result.refusal;
}

/** The record on disk, changed. */
function rewrite(folder: string, change: Partial<Record<keyof OwnerRecord, unknown>>): void {
  for (const name of readdirSync(folder)) {
    if (!/^owner.*\.(claim|json)$/.test(name)) continue;
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, 'utf8')) as OwnerRecord), ...change }));
  }
}

async function killed(owner: Owner): Promise<void> {
  owner.signal('SIGKILL');
  expect(await owner.ended).toBe('SIGKILL');
}

describe('one owner', () => {
  test('the lease says who owns, ignores itself in git, and is given back', async () => {
    const place = freshPlace();
    execFileSync('git', ['init', '-q', place.workspace]);
    const lease = await held(place);
    expect(lease.confirmFence()).toBe(true);
    expect(lease.repair()).toEqual({ kind: 'intact' });
    expect(JSON.parse(readFileSync(join(place.workspace, '.hma/owner.json'), 'utf8'))).toEqual(lease.owner);
    expect(lease.owner).toMatchObject({
      pid: process.pid,
      fence: 1,
      turn: 1,
      run: 'run-1',
      stateDir: place.state,
      bootId: systemClock.now().boot,
    });
    expect(readOwner(place.workspace)).toEqual(lease.owner);
    expect(readRunOwner(place.state)).toEqual(lease.owner);
    expect(
      execFileSync('git', ['-C', place.workspace, 'status', '--porcelain', '--untracked-files=all'], {
        encoding: 'utf8',
      }),
    ).toBe('');
    expect(statSync(join(place.state, 'owner-1.claim')).mode & 0o777).toBe(0o600);
    lease.release();
    expect(existsSync(join(place.workspace, '.hma/owner.json'))).toBe(false);
    expect((await held(place)).fence).toBe(2);
  });

  test('a living owner holds it, listening or not, and the refusal says what to do', async () => {
    const place = freshPlace();
    const socket = join(place.root, 'c.sock');
    const owner = await startOwner();
    expect(await owner.ask(order(place, { socket }))).toEqual({ fence: 1, turn: 1 });
    const first = await refusal(place);
    expect(first).toMatchObject({ reason: 'held', what: 'run', liveness: 'lives', owner: { pid: owner.pid } });
    expect(describeLeaseRefusal(first)).toMatch(
      new RegExp(
        `Run run-1 already has a controller \\(process ${owner.pid} on .*its process lives.*hma resume run-1 --take-over`,
      ),
    );
    await owner.ask({ do: 'listen', socket });
    expect(await refusal(place)).toMatchObject({ reason: 'held', liveness: 'answers' });
    expect(await owner.ask({ do: 'confirm' })).toBe(true);
  });

  test('two runs from two state folders on one workspace: the second is refused, and its own folder stays free', async () => {
    const place = freshPlace();
    const lease = await held(place);
    const second = await refusal(place, { stateDir: place.otherState, runId: 'run-2' });
    expect(second).toMatchObject({ reason: 'held', what: 'workspace', owner: { run: 'run-1' } });
    expect(describeLeaseRefusal(second)).toContain(`Run run-1 already works in ${place.workspace}`);
    expect(lease.confirmFence()).toBe(true);
    lease.release();
    expect((await held(place, { stateDir: place.otherState, runId: 'run-2' })).owner).toMatchObject({
      fence: 1,
      turn: 2,
    });
  });

  test('after kill -9 the next owner follows with a higher fence', async () => {
    const place = freshPlace();
    for (const fence of [1, 2, 3]) {
      const owner = await startOwner();
      expect(await owner.ask(order(place))).toEqual({ fence, turn: fence });
      await killed(owner);
    }
    expect(readdirSync(join(place.workspace, '.hma')).toSorted()).toEqual([
      '.gitignore',
      'owner-3.claim',
      'owner.json',
    ]);
  });

  test(
    'of 40 processes that race for a dead owner’s lease exactly one wins, twenty times over',
    { timeout: 300_000 },
    async () => {
      const processes = await Promise.all(Array.from({ length: 40 }, () => startOwner()));
      for (let round = 0; round < 20; round += 1) {
        const place = freshPlace();
        const dead = await held(place);
        for (const folder of [join(place.workspace, '.hma'), place.state]) rewrite(folder, { start: '1' });
        expect(dead.confirmFence()).toBe(false);
        // all for one run; all for one workspace from folders of their own; both at once
        const stateOf = (n: number) =>
          [place.state, join(place.root, `own-${n}`), join(place.root, `shared-${n % 5}`)][round % 3] as string;
        const at = Date.now() + 60;
        const answers = await Promise.all(
          processes.map((one, n) => one.ask(order(place, { stateDir: stateOf(n), at }))),
        );
        const winners = answers.flatMap((answer, n) => ('fence' in (answer as object) ? [n] : []));
        expect(winners, JSON.stringify(answers.filter((_, n) => winners.includes(n)))).toHaveLength(1);
        for (const [n, answer] of answers.entries())
          if (n !== winners[0]) expect(answer).toMatchObject({ refused: { reason: 'held' } });
        const winner = processes[winners[0] as number] as Owner;
        expect(await winner.ask({ do: 'confirm' })).toBe(true);
        expect(readOwner(place.workspace)?.pid).toBe(winner.pid);
      }
    },
  );
});

describe('what is dead and what only looks so', () => {
  const sameMachine = async (change: Partial<Record<keyof OwnerRecord, unknown>>) => {
    const place = freshPlace();
    const lease = await held(place);
    rewrite(place.state, change);
    rewrite(join(place.workspace, '.hma'), change);
    return { place, lease };
  };

  test('another boot of this machine is dead, whatever has the pid now', async () => {
    const { place } = await sameMachine({ bootId: 'the boot before' });
    expect((await held(place)).fence).toBe(2);
  });

  test('a pid that another process has by now is dead', async () => {
    const { place } = await sameMachine({ start: '12345' });
    expect((await held(place)).fence).toBe(2);
  });

  test.each<[string, Partial<Record<keyof OwnerRecord, unknown>>]>([
    ['another host', { host: 'elsewhere', pid: 999_999 }],
    ['another machine of the same name', { machine: 'f'.repeat(32), pid: 999_999 }],
    ['another pid namespace', { pidNamespace: 'pid:[1]', pid: 999_999 }],
    ['another host and another boot', { host: 'elsewhere', bootId: 'x' }],
  ])('%s can’t be seen from here, so it holds', async (_, change) => {
    const { place } = await sameMachine(change);
    expect(await refusal(place)).toMatchObject({ reason: 'held', liveness: 'unknown' });
    expect((await held(place, { takeOver: true })).fence).toBe(2);
  });

  test('age is no proof: an owner of ten years ago holds while it lives', async () => {
    const { place } = await sameMachine({ wall: 1 });
    expect(await refusal(place)).toMatchObject({ reason: 'held', liveness: 'lives' });
  });

  test('a socket that answers holds although the process is gone', async ({ onTestFinished }) => {
    const { place } = await sameMachine({ start: '12345' });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(place.root, 'c.sock'), resolve));
    onTestFinished(() => void server.close());
    expect(await refusal(place)).toMatchObject({ reason: 'held', liveness: 'answers' });
  });

  test('a socket path that Node would cut short proves nothing', async () => {
    const { lease } = await sameMachine({});
    expect(
      await livenessOf({ ...lease.owner, start: '12345', clientSocket: `/tmp/${'x'.repeat(120)}` }, systemClock),
    ).toBe('unknown');
    expect(await livenessOf({ ...lease.owner, start: '12345' }, systemClock)).toBe('dead');
  });

  test('a zombie is dead', async () => {
    const place = freshPlace();
    const lease = await held(place);
    // the shell never waits for its first child, which becomes a zombie
    const script = 'sleep 0 & echo $!; exec sleep 60';
    const { spawn } = await import('node:child_process');
    const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (
      await new Promise<string>((resolve) => parent.stdout.once('data', (data) => resolve(String(data))))
    ).split('\n');
    const stat = `/proc/${Number(line)}/stat`;
    await expect
      .poll(() => readFileSync(stat, 'utf8').split(') ')[1]?.[0], { message: 'the child to be a zombie' })
      .toBe('Z');
    const start = readFileSync(stat, 'utf8').split(') ')[1]?.split(' ')[19] as string;
    expect(await livenessOf({ ...lease.owner, pid: Number(line), start }, systemClock)).toBe('dead');
    parent.kill('SIGKILL');
    await new Promise((resolve) => parent.once('exit', resolve));
  });

  test('an owner of a newer HMA holds', async () => {
    const { place } = await sameMachine({ v: 2 });
    const answer = await refusal(place);
    expect(answer).toEqual({ reason: 'newer_version', path: join(place.state, 'owner-1.claim') });
    expect(describeLeaseRefusal(answer)).toContain('A newer HMA owns this workspace');
  });
});

describe('a person takes over', () => {
  test('a stopped owner finds out when it goes on: nothing that it writes is told or in the ledger', async () => {
    const place = freshPlace();
    const told = join(place.root, 'told');
    const old = await startOwner();
    await old.ask(order(place));
    await old.ask({ do: 'open', dir: place.state });
    expect(await old.ask({ do: 'append', type: 'before', told })).toEqual([1, 2]);
    old.signal('SIGSTOP');
    const next = await startOwner();
    expect(await next.ask(order(place))).toMatchObject({ refused: { reason: 'held', liveness: 'lives' } });
    expect(await next.ask(order(place, { takeOver: true }))).toEqual({ fence: 2, turn: 2 });
    expect(await next.ask({ do: 'open', dir: place.state })).toEqual(['before', 'before']);
    const late = old.ask({ do: 'append', type: 'late', told });
    old.signal('SIGCONT');
    expect(await late).toMatchObject({ threw: 'FenceLost' });
    expect(await old.ask({ do: 'confirm' })).toBe(false);
    expect(await old.ask({ do: 'repair' })).toEqual({ kind: 'lost' });
    await old.ask({ do: 'release' });
    expect(await next.ask({ do: 'append', type: 'after', told })).toEqual([3, 4]);
    expect(await next.ask({ do: 'confirm' })).toBe(true);
    expect(readLedger(place.state)).toMatchObject({
      problems: [],
      events: [{ type: 'before' }, { type: 'before' }, { type: 'after' }, { type: 'after' }],
    });
    expect(readFileSync(told, 'utf8')).toBe('before\nafter\n');
  });

  test('a stopped owner of another run finds out too, also when the new one has ended meanwhile', async () => {
    const place = freshPlace();
    const old = await startOwner();
    await old.ask(order(place));
    old.signal('SIGSTOP');
    const next = await held(place, { stateDir: place.otherState, runId: 'run-2', takeOver: true });
    next.release();
    old.signal('SIGCONT');
    expect(await old.ask({ do: 'confirm' })).toBe(false);
  });

  test('of eight that take over at once one is the owner in the end', async () => {
    const processes = await Promise.all(Array.from({ length: 8 }, () => startOwner()));
    for (let round = 0; round < 5; round += 1) {
      const place = freshPlace();
      await held(place);
      const at = Date.now() + 60;
      const answers = await Promise.all(processes.map((one) => one.ask(order(place, { takeOver: true, at }))));
      // one that looks for the first time after another has won was told to take over from that one
      const confirmed = await Promise.all(processes.map((one) => one.ask({ do: 'confirm' })));
      const owners = confirmed.flatMap((mine, n) => (mine === true && 'fence' in (answers[n] as object) ? [n] : []));
      expect(owners).toHaveLength(1);
    }
  });
});

describe('an agent cleans up', () => {
  test('without .hma no second controller of the run gets in, and the owner rebuilds it', async () => {
    const place = freshPlace();
    const lease = await held(place);
    rmSync(join(place.workspace, '.hma'), { recursive: true });
    expect(lease.confirmFence()).toBe(true);
    expect(await refusal(place)).toMatchObject({ reason: 'held', what: 'run' });
    rmSync(join(place.workspace, '.hma'), { recursive: true });
    const files = ['', '.gitignore', 'owner-1.claim', 'owner.json'].map((name) =>
      join(place.workspace, '.hma', name).replace(/\/$/, ''),
    );
    expect(lease.repair()).toEqual({ kind: 'repaired', files });
    expect(lease.repair()).toEqual({ kind: 'intact' });
    expect(await refusal(place, { stateDir: place.otherState })).toMatchObject({ reason: 'held', what: 'workspace' });
  });

  test('each file by itself is rebuilt', async () => {
    const place = freshPlace();
    const lease = await held(place);
    for (const name of ['.gitignore', 'owner-1.claim', 'owner.json']) {
      rmSync(join(place.workspace, '.hma', name));
      expect(lease.repair()).toEqual({ kind: 'repaired', files: [join(place.workspace, '.hma', name)] });
      writeFileSync(join(place.workspace, '.hma', name), 'scribble');
      expect(lease.repair()).toEqual({ kind: 'repaired', files: [join(place.workspace, '.hma', name)] });
    }
  });

  test('a copy of .hma from an earlier owner that is put back changes nothing', async () => {
    const place = freshPlace();
    const first = await startOwner();
    await first.ask(order(place));
    cpSync(join(place.workspace, '.hma'), join(place.root, 'copy'), { recursive: true });
    await killed(first);
    const lease = await held(place);
    rmSync(join(place.workspace, '.hma'), { recursive: true });
    renameSync(join(place.root, 'copy'), join(place.workspace, '.hma'));
    expect(lease.confirmFence()).toBe(true);
    expect(lease.repair()).toMatchObject({ kind: 'repaired' });
    expect(readOwner(place.workspace)).toEqual(lease.owner);
  });

  test('with .hma cleaned away another run may come in, and then exactly one of the two is the owner', async () => {
    const place = freshPlace();
    const lease = await held(place);
    rmSync(join(place.workspace, '.hma'), { recursive: true });
    const other = await startOwner();
    expect(await other.ask(order(place, { stateDir: place.otherState, run: 'run-2' }))).toEqual({ fence: 1, turn: 1 });
    expect([lease.confirmFence(), await other.ask({ do: 'confirm' })]).toEqual([false, true]);
    expect(lease.repair()).toEqual({ kind: 'lost' });
  });

  test('rubbish, pipes and links in the place of claims neither block nor mislead', async () => {
    const place = freshPlace();
    const folder = join(place.workspace, '.hma');
    mkdirSync(join(folder, 'owner-3.claim'), { recursive: true });
    execFileSync('mkfifo', [join(folder, 'owner.json'), join(folder, 'owner-1.claim')]);
    symlinkSync('/dev/zero', join(folder, 'owner-2.claim'));
    writeFileSync(join(folder, 'owner-4.claim'), '{"v":1}');
    expect(readOwner(place.workspace)).toBeUndefined();
    const lease = await held(place);
    expect(lease.owner.turn).toBe(1);
    expect(readdirSync(folder).toSorted()).toEqual(['.gitignore', 'owner-1.claim', 'owner.json']);
    rmSync(join(folder, 'owner-1.claim'));
    execFileSync('mkfifo', [join(folder, 'owner-1.claim')]);
    expect(lease.confirmFence()).toBe(true);
    expect(lease.repair()).toMatchObject({ kind: 'repaired' });
  });

  test('a link in the place of .hma is removed, and nothing is written where it leads', async () => {
    const place = freshPlace();
    const elsewhere = join(place.root, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(place.workspace, '.hma'));
    const lease = await held(place);
    rmSync(join(place.workspace, '.hma'), { recursive: true });
    symlinkSync(elsewhere, join(place.workspace, '.hma'));
    expect(lease.repair()).toMatchObject({ kind: 'repaired' });
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(readOwner(place.workspace)).toEqual(lease.owner);
  });

  test('an owner whose state folder is gone is none', async () => {
    const place = freshPlace();
    const lease = await held(place);
    rmSync(place.state, { recursive: true });
    expect(lease.confirmFence()).toBe(false);
  });

  test('the ledger remembers the fence when the claims beside it are lost', async () => {
    const place = freshPlace();
    mkdirSync(place.state);
    writeFileSync(join(place.state, 'ledger-41.jsonl'), '');
    expect((await held(place)).fence).toBe(42);
  });
});

describe('folders that can’t be written', () => {
  test('a read-only workspace is refused in clear words, and the state folder stays free', async ({
    skip,
    onTestFinished,
  }) => {
    const place = freshPlace();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', place.workspace]);
    if (mounted.status !== 0) return skip('mounting needs root with CAP_SYS_ADMIN');
    onTestFinished(() => void spawnSync('umount', ['-l', place.workspace]));
    const answer = await refusal(place);
    expect(answer).toMatchObject({ reason: 'unwritable', path: join(place.workspace, '.hma'), code: 'EROFS' });
    expect(describeLeaseRefusal(answer)).toMatch(/can't write .*\.hma .*correct the permissions/);
    expect(readRunOwner(place.state)).toBeUndefined();
    return undefined;
  });

  test('a workspace that isn’t there, or a file in the place of .hma', async () => {
    const place = freshPlace();
    writeFileSync(join(place.workspace, '.hma'), '');
    expect(await refusal(place)).toMatchObject({ reason: 'unwritable', code: 'EEXIST' });
    expect(await refusal({ ...place, workspace: join(place.root, 'none') })).toMatchObject({
      reason: 'unwritable',
      code: 'ENOENT',
    });
  });
});

describe('whatever it dies at', () => {
  test.each(leaseCrashPoints)('killed at %s, the next one gets the lease with a higher fence', async (point) => {
    const place = freshPlace();
    const doomed = await startOwner({ HMA_DIE_AT: point });
    await doomed.ask(order(place));
    if (point === 'lease.released') await doomed.ask({ do: 'release' });
    expect(await doomed.ended).toBe('SIGKILL');
    const lease = await held(place);
    expect(lease.fence).toBe(2);
    expect(lease.confirmFence()).toBe(true);
    expect(readOwner(place.workspace)).toEqual(lease.owner);
  });

  test.each(ledgerCrashPoints)(
    'killed at %s, nothing that was told is lost, and the next one goes on',
    async (point) => {
      const place = freshPlace();
      const told = join(place.root, 'told');
      // for the points of opening it dies in a second life, over a ledger with a torn tail; for those of appending in its third append
      const opening = ledgerCrashPoints.indexOf(point) < 2;
      if (opening) {
        const first = await startOwner();
        await first.ask(order(place));
        await first.ask({ do: 'open', dir: place.state });
        await first.ask({ do: 'append', type: 'one', told });
        await killed(first);
        writeFileSync(join(place.state, 'ledger-1.jsonl'), '{"seq":3,"e', { flag: 'a' });
      }
      const armed = join(place.root, 'armed');
      const doomed = await startOwner({ HMA_DIE_AT: point, HMA_DIE_AFTER: opening ? place.root : armed });
      await doomed.ask(order(place));
      await doomed.ask({ do: 'open', dir: place.state });
      if (!opening) {
        await doomed.ask({ do: 'append', type: 'one', told });
        writeFileSync(armed, '');
        expect(await doomed.ask({ do: 'append', type: 'two', told })).toEqual({ died: 'SIGKILL' });
      }
      expect(await doomed.ended).toBe('SIGKILL');
      const next = await startOwner();
      await next.ask(order(place));
      const replayed = (await next.ask({ do: 'open', dir: place.state })) as string[];
      expect(replayed.filter((_, n) => n % 2 === 0)).toEqual(
        readFileSync(told, 'utf8')
          .trim()
          .split('\n')
          .concat(['ledger.written', 'ledger.synced', 'ledger.confirmed'].includes(point) ? ['two'] : []),
      );
      expect(await next.ask({ do: 'append', type: 'three', told })).toEqual([replayed.length + 1, replayed.length + 2]);
      expect(readLedger(place.state).problems).toEqual([]);
      expect(readdirSync(place.state).filter((name) => name.includes('torn')).length).toBe(
        opening ? (point === 'ledger.tornSetAside' ? 2 : 1) : 0,
      );
    },
  );
});
