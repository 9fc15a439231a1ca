import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { observeRunner, startRunner, watchRunner, type Observation } from '../../src/machines/runnerControl.ts';
import type { Standby } from '../../src/machines/standby.ts';
import type { Confinement, ProcessIdentity, ProgramSpec, Tier } from '../../src/machines/port.ts';
import { pickUids, releaseUids } from '../../src/machines/uidTier.ts';
import { allPids, processAt, readProc, signalProcess } from '../../src/machines/processes.ts';

/** The repository. */
export const repository = fileURLToPath(new URL('../..', import.meta.url));
/** The runner as it runs without a bundle. */
export const runnerJs = join(repository, 'src/machines/runner.ts');

let uids: readonly [number, number] | undefined;

/** User ids of this test process alone, for a session and for an evaluation: test files run side by side, and ending is by uid. */
export function testUids(): readonly [number, number] {
  if (uids) return uids;
  const holder = `test ${process.pid}`;
  const picked = pickUids(holder, 2);
  if (!picked.ok) throw new Error(picked.refusal);
  process.on('exit', () => releaseUids(holder));
  uids = [picked.value[0] as number, picked.value[1] as number];
  return uids;
}

/** A temporary place with a workspace in which programs are run by real runners; ends whatever is left of them when it is closed. */
export class MachineRoom {
  readonly base: string;
  readonly workspace: string;
  readonly state: string;
  #starts = 0;
  #nonces: string[] = [];

  constructor() {
    this.base = mkdtempSync(join(tmpdir(), 'hma-machines-'));
    chmodSync(this.base, 0o755);
    this.workspace = join(this.base, 'workspace');
    this.state = join(this.base, 'state');
    mkdirSync(this.workspace);
    mkdirSync(this.state, { mode: 0o700 });
  }

  /** The confinement of a session in this room. */
  confinement(tier: Tier, more: Partial<Confinement> = {}): Confinement {
    const session = join(this.state, `session-${this.#starts}`);
    return {
      ...{
        tier,
        writable: [this.workspace],
        readable: [],
        hidden: [this.state],
        home: join(session, 'home'),
        tmp: join(session, 'tmp'),
        network: 'open',
      },
      ...(tier === 'uid' && { uid: testUids()[0] }),
      ...more,
    };
  }

  /** Starts a program under a runner. */
  async start(
    tier: Tier,
    argv: readonly [string, ...string[]],
    more: {
      spec?: Partial<ProgramSpec>;
      confinement?: Partial<Confinement>;
      env?: Record<string, string>;
      standby?: Standby;
    } = {},
  ): Promise<Started> {
    this.#starts += 1;
    const dir = join(this.state, `runner-${this.#starts}`);
    mkdirSync(dir, { mode: 0o700 });
    const nonce = `${this.base.slice(-6)}-${this.#starts}`;
    this.#nonces.push(nonce);
    const spec: ProgramSpec = {
      nonce,
      kind: 'attempt',
      argv,
      cwd: this.workspace,
      graceMs: 300,
      timeoutMs: 60_000,
      confinement: this.confinement(tier, more.confinement),
      ...more.spec,
    };
    const started = await startRunner({
      node: process.execPath,
      runnerJs,
      dir,
      spec,
      env: { PATH: '/usr/bin:/bin', ...more.env },
      ...(more.standby && { standby: more.standby }),
    });
    if (!started.ok) throw new Error(started.refusal.message);
    return { dir, nonce, tier, runner: started.value, spec };
  }

  /** A file of the workspace, or undefined. */
  read(name: string): string | undefined {
    const path = join(this.workspace, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }

  /** Removes the room. What still carries one of its nonces is killed, and thrown: a test must leave nothing. */
  close(): void {
    const left = allPids().filter(
      (pid) =>
        this.#nonces.some((nonce) => readProc(`/proc/${pid}/environ`)?.includes(`HMA_NONCE=${nonce}\0`)) &&
        processAt(pid),
    );
    const told = left.map((pid) => readProc(`/proc/${pid}/cmdline`)?.toString().replaceAll('\0', ' ') ?? String(pid));
    for (const pid of left) {
      const one = processAt(pid);
      if (one) signalProcess(one, 'SIGKILL');
    }
    rmSync(this.base, { recursive: true, force: true });
    if (told.length > 0) throw new Error(`left running: ${told.join('; ')}`);
  }
}

/** A started runner. */
export interface Started {
  readonly dir: string;
  readonly nonce: string;
  readonly tier: Tier;
  readonly runner: ProcessIdentity;
  readonly spec: ProgramSpec;
}

/** Waits until an observation of the runner satisfies the condition; says what it waited for when it doesn't in time. */
export function observed<Kind extends Observation['kind']>(
  started: Started,
  kind: Kind,
  also: (now: Extract<Observation, { kind: Kind }>) => boolean = () => true,
): Promise<Extract<Observation, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    const log = (): string =>
      `${JSON.stringify(observeRunner(started.dir))}\n${readFileSync(join(started.dir, 'runner.log'), 'utf8')}`;
    const timer = setTimeout(() => {
      watching[Symbol.dispose]();
      reject(new Error(`waited 40 s for the runner to be ${kind}: ${log()}`));
    }, 40_000);
    const watching = watchRunner(started.dir, (now) => {
      if (now.kind !== kind || !also(now as Extract<Observation, { kind: Kind }>)) return;
      clearTimeout(timer);
      watching[Symbol.dispose]();
      resolve(now as Extract<Observation, { kind: Kind }>);
    });
  });
}

/** Waits for a condition on the world outside; says what it waited for when it doesn't come. */
export async function until<Value>(
  what: string,
  look: () => Value | undefined | false,
  limitMs = 20_000,
): Promise<Value> {
  const limit = performance.now() + limitMs;
  for (;;) {
    const value = look();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > limit) throw new Error(`waited ${limitMs} ms for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Pids of living processes whose command line holds this text. */
export const running = (text: string): number[] =>
  allPids().filter(
    (pid) =>
      pid !== process.pid &&
      readProc(`/proc/${pid}/cmdline`)?.toString().replaceAll('\0', ' ').includes(text) &&
      processAt(pid) !== undefined,
  );

/** The nasty programs of test/rig/nasty, compiled into a folder that everybody may read. */
export function compileNasty(): { readonly folder: string; readonly nasty: string; readonly respawn: string } {
  const folder = mkdtempSync(join(tmpdir(), 'hma-nasty-'));
  chmodSync(folder, 0o755);
  const source = join(repository, 'test/rig/nasty');
  for (const name of readdirSync(source).filter((one) => one.endsWith('.c')))
    execFileSync('gcc', ['-w', '-O1', '-o', join(folder, name.slice(0, -2)), join(source, name)]);
  return { folder, nasty: join(folder, 'nasty'), respawn: join(folder, 'respawn') };
}

/** The tiers that can be tried here. */
export const tiersHere: readonly Tier[] = (['bubblewrap', 'uid', 'none'] as const).filter((tier) => {
  if (tier === 'uid') return process.getuid?.() === 0;
  return tier === 'none' || spawnSync('bwrap', ['--version']).status === 0;
});

/** A number no other test uses: seconds for a sleep that can be found again. */
export const uniqueSeconds = (): number => 100_000 + Math.floor(Math.random() * 800_000);
