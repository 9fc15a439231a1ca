import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname } from 'node:os';

import * as z from 'zod';

import type { Clock } from '../base/clock.ts';
import { errorCode } from '../base/files.ts';
import { identify, isAlive, readProc } from '../machines/processes.ts';

/** Claim numbers above this are nobody's: they leave no room to count on. */
const highestNumber = 999_999_999_999;

const ownerSchema = z.object({
  v: z.literal(1),
  /** Unlike any other claim, also of the same process. */
  nonce: z.string().min(1),
  host: z.string(),
  /** /etc/machine-id, where there is one: hosts that share a name share no machine. */
  machine: z.string(),
  bootId: z.string(),
  /** Inode of the pid namespace; '' where the system has none. */
  pidNamespace: z.string(),
  pid: z.int().positive(),
  /** Kernel start time; '' where the system doesn't tell. */
  start: z.string(),
  /** Number among the owners of this run; names the ledger segment. */
  fence: z.int().positive().max(highestNumber),
  /** Number among the owners of this workspace. */
  turn: z.int().positive().max(highestNumber),
  run: z.string(),
  workspace: z.string(),
  stateDir: z.string(),
  clientSocket: z.string(),
  agentSocket: z.string(),
  /** Unix ms. */
  wall: z.number(),
  /** Unix ms at which the owner gave the lease back. */
  released: z.number().optional(),
});

/** Who owns (or owned) a workspace or a run: one controller process. */
export type OwnerRecord = Readonly<z.infer<typeof ownerSchema>>;

/** A record as it lies on disk; undefined for what is none. */
export function asOwnerRecord(value: unknown): OwnerRecord | undefined {
  const parsed = ownerSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

/** Where this process runs: all that tells it from every other one. */
export function describeSelf(
  clock: Clock,
): Pick<OwnerRecord, 'nonce' | 'host' | 'machine' | 'bootId' | 'pidNamespace' | 'pid' | 'start' | 'wall'> {
  const { wall, boot } = clock.now();
  const { pid } = process;
  return {
    nonce: randomUUID(),
    ...thisMachine(),
    bootId: boot,
    pidNamespace: pidNamespace(),
    pid,
    start: identify(pid)?.start ?? '',
    wall,
  };
}

function thisMachine(): { host: string; machine: string } {
  let machine = '';
  try {
    machine = readFileSync('/etc/machine-id', 'utf8').trim();
  } catch {
    // containers and macOS have none; the host's name has to do
  }
  return { host: hostname(), machine };
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** `released` and `dead` may be followed; `answers`, `lives` and `unknown` (it can't be seen from here) hold the lease. */
export type Liveness = 'released' | 'dead' | 'answers' | 'lives' | 'unknown';

/**
 * Whether an owner still is one. Dead is only what is proved to be: its socket refuses, and on the same machine either the boot is
 * another one or, in the same pid namespace, the process is gone. Age is no proof.
 */
export async function livenessOf(owner: OwnerRecord, clock: Clock): Promise<Liveness> {
  if (owner.released !== undefined) return 'released';
  const socket = await probeSocket(owner.clientSocket);
  if (socket === 'answers') return 'answers';
  const process = processLiveness(owner, clock);
  return process === 'dead' && socket !== 'refuses' ? 'unknown' : process;
}

/** What can be said of an owner's process alone, without waiting. */
export function processLiveness(owner: OwnerRecord, clock: Clock): 'dead' | 'lives' | 'unknown' {
  const here = thisMachine();
  if (owner.host !== here.host || owner.machine !== here.machine) return 'unknown';
  if (owner.bootId !== clock.now().boot) return 'dead';
  if (owner.pidNamespace !== pidNamespace()) return 'unknown';
  if (isAlive(owner)) return 'lives';
  // /proc may hide other users' processes; a signal 0 still tells whether the pid is taken
  if (readProc(`/proc/${owner.pid}/stat`) !== undefined || !isTaken(owner.pid)) return 'dead';
  return 'unknown';
}

function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

/** Beyond this Node connects to a silently truncated path, whose refusal would prove nothing. */
const longestSocketPath = 107;

function probeSocket(path: string): Promise<'answers' | 'refuses' | 'unknown'> {
  if (Buffer.byteLength(path) > longestSocketPath) return Promise.resolve('unknown');
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.setTimeout(2000, () => end('unknown'));
    socket.once('connect', () => end('answers'));
    socket.once('error', (error) =>
      end(['ECONNREFUSED', 'ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '') ? 'refuses' : 'unknown'),
    );
    const end = (what: 'answers' | 'refuses' | 'unknown') => {
      socket.destroy();
      resolve(what);
    };
  });
}
