import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

import { endTree } from './endTree.ts';
import { confine, type TierProbe } from './isolation.ts';
import type { Confinement, Tier } from './port.ts';
import { hasProc, identify, signalProcess } from './processes.ts';
import { wrappersOf, type ProcessTree } from './processTree.ts';
import { tool } from './tools.ts';
import { forgetUid } from './uidAccess.ts';
import { missingForUid, pickUids, releaseUids } from './uidTier.ts';

/**
 * What runs inside while a tier is probed; it writes one word per line about what it found, then leaves a daemonized child and stays.
 * Arguments: node, hidden file, read-only folder, writable folder, a file in the machine's own /tmp.
 */
const inside = `
tell() { echo "$1" >> "$found"; }
found="$4/found.part"
"$1" -e 0 && tell node
cat "$2" >/dev/null 2>&1 || tell hidden
(echo x > "$3/made") 2>/dev/null || tell readonly
(echo x > "$4/made") 2>/dev/null && tell writable
(echo x > "$HOME/made") 2>/dev/null && (echo x > "$TMPDIR/made") 2>/dev/null && tell home
cat "$5" >/dev/null 2>&1 || tell ownTmp
(setsid sleep 600 >/dev/null 2>&1 &)
mv "$found" "$4/found"
exec sleep 600
`;

/** How long a tier may take to show what it can, milliseconds. */
const patienceMs = 20_000;

/** What each tier must show from inside; `none` shows only that it runs. */
const needed: Readonly<Record<Tier, readonly string[]>> = {
  bubblewrap: ['node', 'hidden', 'readonly', 'writable', 'home', 'ownTmp'],
  uid: ['node', 'hidden', 'readonly', 'writable', 'home'],
  none: ['node', 'writable', 'home'],
};

const failure: Readonly<Record<string, string>> = {
  node: 'Node could not be run inside (is its folder readable for others?)',
  hidden: 'a hidden file could be read',
  readonly: 'a read-only folder could be written',
  writable: 'the writable folder could not be written',
  home: 'HOME or TMPDIR could not be written',
  ownTmp: "the machine's /tmp was visible",
};

/**
 * Finds out which tiers work here, by starting a program in each that looks around, and ending it with a daemonized child.
 * `scratch` is a folder on the file system that workspaces lie on; what is made there is removed again. `tiers`: only these.
 */
export async function probeTiers(given: {
  readonly node: string;
  readonly scratch: string;
  readonly tiers?: readonly Tier[];
}): Promise<TierProbe[]> {
  const tiers: readonly Tier[] = given.tiers ?? ['bubblewrap', 'uid', 'none'];
  return Promise.all(tiers.map((tier) => probeTier(tier, given)));
}

async function probeTier(tier: Tier, given: { readonly node: string; readonly scratch: string }): Promise<TierProbe> {
  if (process.platform !== 'linux' || !hasProc())
    return {
      tier,
      available: tier === 'none',
      why: 'this system is not Linux with /proc: only tier none, whose ends of processes rest on process groups',
    };
  if (tier === 'none') return outcome(tier, await lookAround({ ...given, tier }));
  if (tier === 'uid') {
    const missing = missingForUid();
    if (missing) return { tier, available: false, why: missing };
    return outcome(tier, await lookAround({ ...given, tier }));
  }
  const version = await bubblewrapVersion();
  if (version === undefined)
    return { tier, available: false, why: 'bwrap not found (Debian: apt-get install bubblewrap)' };
  const strict = await lookAround({ ...given, tier, nested: 'refused' });
  if (strict === undefined) return { ...outcome(tier, strict), nested: 'refused' };
  const loose = await lookAround({ ...given, tier, nested: 'possible' });
  if (loose === undefined)
    return {
      tier,
      available: true,
      nested: 'possible',
      why: `${checked(tier)}; but user namespaces inside can't be refused here`,
    };
  return outcome(tier, strict);
}

const checked = (tier: Tier): string =>
  tier === 'none'
    ? 'starts and ends programs; nothing is hidden'
    : 'checked from inside: hidden is hidden, read-only is read-only, and ending it ends daemonized children too';

const outcome = (tier: Tier, problem: string | undefined): TierProbe => ({
  tier,
  available: problem === undefined,
  why: problem ?? checked(tier),
});

async function bubblewrapVersion(): Promise<string | undefined> {
  try {
    return (await promisify(execFile)(tool('bwrap'), ['--version'], { timeout: 10_000 })).stdout.trim();
  } catch {
    return undefined;
  }
}

/** What one look needs. */
interface Inspection {
  readonly node: string;
  readonly scratch: string;
  readonly tier: Tier;
  readonly nested?: 'refused' | 'possible';
}

/** Starts the look in a tier; undefined when all is as it should be, else what is not. */
async function lookAround(given: Inspection): Promise<string | undefined> {
  mkdirSync(given.scratch, { recursive: true });
  const base = mkdtempSync(join(given.scratch, 'hma-probe-'));
  const outside = mkdtempSync(join(tmpdir(), 'hma-probe-'));
  const holder = `probe ${randomUUID()}`;
  const uids = given.tier === 'uid' ? pickUids(holder, 1) : undefined;
  try {
    if (uids && !uids.ok) return uids.refusal;
    return await inspect(given, { base, outside, ...(uids?.ok && { uid: uids.value[0] as number }) });
  } finally {
    if (uids?.ok) await forgetUid(uids.value[0] as number, [base, given.node]);
    rmSync(base, { recursive: true, force: true });
    rmSync(outside, { recursive: true, force: true });
    if (given.tier === 'uid') releaseUids(holder);
  }
}

async function inspect(
  given: Inspection,
  places: { readonly base: string; readonly outside: string; readonly uid?: number },
): Promise<string | undefined> {
  const at = (name: string): string => join(places.base, name);
  for (const name of ['hidden', 'readonly', 'writable', 'scratch']) mkdirSync(at(name), { mode: 0o755 });
  writeFileSync(join(at('hidden'), 'secret'), 'secret', { mode: 0o644 });
  const marker = join(places.outside, 'marker');
  writeFileSync(marker, 'outside', { mode: 0o644 });
  const confinement: Confinement = {
    ...{
      tier: given.tier,
      writable: [at('writable')],
      readable: [at('readonly'), given.node],
      hidden: [at('hidden')],
      home: at('home'),
      tmp: at('tmp'),
      network: 'open',
    },
    ...(places.uid !== undefined && { uid: places.uid }),
    ...(given.nested && { nested: given.nested }),
  };
  const argv = [
    '/bin/sh',
    '-c',
    inside,
    'hma-probe',
    given.node,
    join(at('hidden'), 'secret'),
    at('readonly'),
    at('writable'),
    marker,
  ];
  const confined = await confine({ confinement, argv, cwd: at('writable'), scratch: at('scratch') });
  if (!confined.ok) return confined.refusal.message;
  const nonce = randomUUID();
  const [command, ...args] = confined.value.argv;
  const child = spawn(command, args, {
    detached: true,
    cwd: '/',
    env: { PATH: process.env['PATH'], ...confined.value.env, HMA_NONCE: nonce },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  (child.stdio[3] as Readable).resume();
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString('utf8')).slice(0, 400)));
  const root = child.pid === undefined ? undefined : identify(child.pid);
  const found = await waitForFile(join(at('writable'), 'found'), child);
  if (!root || found === undefined) {
    if (root) signalProcess(root, 'SIGKILL');
    return `a program could not be run in it: ${said.trim() || 'it ended or hung without a word'}`;
  }
  const tree: ProcessTree = {
    tier: given.tier,
    nonce,
    root,
    supervisors: confined.value.reaper ? wrappersOf(root, given.tier) : [],
    spare: [],
    ...(places.uid !== undefined && { uid: places.uid }),
  };
  const end = await endTree({ tree, graceMs: 0 });
  await confined.value.cleanup();
  if (end.survivors.length > 0)
    return `not all of its processes could be ended (${end.survivors.map((one) => one.command).join(', ')})`;
  const lacking = needed[given.tier].filter((word) => !found.split('\n').includes(word));
  return lacking.length === 0 ? undefined : lacking.map((word) => failure[word]).join('; ');
}

/** Waits for the look's findings; undefined when the program ended or the patience did. */
async function waitForFile(path: string, child: ReturnType<typeof spawn>): Promise<string | undefined> {
  const limit = performance.now() + patienceMs;
  let ended = false;
  child.once('exit', () => (ended = true));
  child.once('error', () => (ended = true));
  while (!existsSync(path)) {
    if (ended || performance.now() > limit) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return readFileSync(path, 'utf8');
}
