import { readFileSync, readdirSync, statSync } from 'node:fs';

import type { EndedProcess, ProcessIdentity } from './port.ts';

/** One living process as /proc tells it. `start` and the CPU times are clock ticks; `state` is never a zombie's. */
export interface LiveProcess extends ProcessIdentity {
  readonly ppid: number;
  readonly pgid: number;
  readonly sid: number;
  readonly state: string;
  /** CPU used by it and by the children it has waited for, milliseconds. */
  readonly cpuMs: number;
}

/** USER_HZ, which Linux fixes at 100 for everything it shows to programs. */
const ticksPerSecond = 100;

/** Reads a /proc file; undefined when the process is gone or belongs to somebody else. */
export function readProc(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** The living process with this pid; undefined when there is none. Zombies and dying processes are dead: they can do nothing any more. */
export function processAt(pid: number): LiveProcess | undefined {
  const text = readProc(`/proc/${pid}/stat`)?.toString('latin1');
  if (text === undefined) return undefined;
  // the name may hold spaces and ')': fields are counted from its last ')'
  const field = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, pgid, sid] = field;
  const start = field[19];
  if (state === undefined || start === undefined || state === 'Z' || state === 'X') return undefined;
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(field[at] ?? 0), 0);
  return {
    pid,
    start,
    state,
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(sid),
    cpuMs: (ticks * 1000) / ticksPerSecond,
  };
}

/** Pid and start time of a living process, by which it is never mistaken for a later one with its pid. */
export function identify(pid: number): ProcessIdentity | undefined {
  const found = processAt(pid);
  return found && { pid, start: found.start };
}

/** Whether exactly this process lives. With `boot`, also that it is of this boot: start times repeat from boot to boot. */
export function isAlive(identity: ProcessIdentity, boot?: { readonly then: string; readonly now: string }): boolean {
  if (boot && boot.then !== boot.now) return false;
  return processAt(identity.pid)?.start === identity.start;
}

/** All pids there are, newest first as far as numbers tell: what re-forks quickly is seen before it is gone. */
export function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => b - a);
}

/** All living processes by pid. */
export function allProcesses(): Map<number, LiveProcess> {
  const found = new Map<number, LiveProcess>();
  for (const pid of allPids()) {
    const one = processAt(pid);
    if (one) found.set(pid, one);
  }
  return found;
}

/** Pids of a process's children as the kernel lists them, in one quick read; empty where it doesn't (no CONFIG_PROC_CHILDREN). */
export function childrenOf(pid: number): number[] {
  const text = readProc(`/proc/${pid}/task/${pid}/children`)?.toString('latin1').trim();
  return text ? text.split(' ').map(Number) : [];
}

/** The living descendants of a living process (itself not among them), parents before children. */
export function descendants(
  root: ProcessIdentity,
  among: ReadonlyMap<number, LiveProcess> = allProcesses(),
): LiveProcess[] {
  if (among.get(root.pid)?.start !== root.start) return [];
  const children = new Map<number, LiveProcess[]>();
  for (const one of among.values()) children.set(one.ppid, [...(children.get(one.ppid) ?? []), one]);
  const found: LiveProcess[] = [];
  const queue = [root.pid];
  for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) {
    for (const child of children.get(pid) ?? []) {
      found.push(child);
      queue.push(child.pid);
    }
  }
  return found;
}

/** Whether the process was started with HMA_NONCE set to this nonce. False when it cleared its environment or belongs to somebody else. */
export function carriesMarker(pid: number, nonce: string): boolean {
  const environ = readProc(`/proc/${pid}/environ`);
  if (!environ?.length) return false;
  return Buffer.concat([Buffer.from([0]), environ, Buffer.from([0])]).includes(`\0HMA_NONCE=${nonce}\0`);
}

/** Living processes any of whose user ids (real, effective, saved, file system) is this one. */
export function listByUid(uid: number): LiveProcess[] {
  return allPids().flatMap((pid) => {
    const ids = /^Uid:\s+(.*)$/m.exec(readProc(`/proc/${pid}/status`)?.toString('latin1') ?? '')?.[1];
    const one = ids?.split(/\s+/).map(Number).includes(uid) ? processAt(pid) : undefined;
    return one ? [one] : [];
  });
}

/** The process's pid in the innermost pid namespace it lives in. */
export function innerPid(pid: number): number | undefined {
  const line = /^NSpid:\s+(.*)$/m.exec(readProc(`/proc/${pid}/status`)?.toString('latin1') ?? '')?.[1];
  return line === undefined ? undefined : Number(line.split(/\s+/).at(-1));
}

/** The command line of a process, at most 200 characters; its short name in brackets when it has none. */
export function commandOf(pid: number): string {
  const line = readProc(`/proc/${pid}/cmdline`)?.toString('utf8').replaceAll('\0', ' ').trim();
  return (line || `[${readProc(`/proc/${pid}/comm`)?.toString('utf8').trim() ?? 'gone'}]`).slice(0, 200);
}

/** A process described for the record: its command line (at most 200 characters) and its age. */
export function describeProcess(one: ProcessIdentity): EndedProcess {
  const uptimeMs = Number(readProc('/proc/uptime')?.toString('latin1').split(' ')[0] ?? 0) * 1000;
  const ageMs = Math.max(0, Math.round(uptimeMs - (Number(one.start) * 1000) / ticksPerSecond));
  return { pid: one.pid, command: commandOf(one.pid), ageMs };
}

/** Signals exactly this process, if it still lives. Returns whether the signal was delivered. */
export function signalProcess(one: ProcessIdentity, name: NodeJS.Signals): boolean {
  if (!isAlive(one)) return false;
  try {
    process.kill(one.pid, name);
    return true;
  } catch {
    return false; // it ended between the look and the signal, or it is another user's: the caller looks again
  }
}

/** Pids that are never to be signalled: init, this process and all it descends from. */
export function untouchablePids(): Set<number> {
  const spared = new Set([0, 1, process.pid]);
  for (let pid = process.ppid; pid > 1 && !spared.has(pid); pid = processAt(pid)?.ppid ?? 0) spared.add(pid);
  return spared;
}

/** Whether /proc/PID can be read at all here; macOS has none. */
export function hasProc(): boolean {
  try {
    return statSync('/proc/self/stat').isFile();
  } catch {
    return false;
  }
}
