import { readProc } from './processes.ts';

/** How often the kernel's out-of-memory killer has struck so far: on the machine, and in this process's own memory cgroup. */
export interface OomCount {
  readonly machine: number;
  readonly cgroup: number;
}

/** Reads the counters; what can't be read counts as 0. */
export function countOomKills(): OomCount {
  return { machine: counter('/proc/vmstat'), cgroup: cgroupFiles().reduce((sum, file) => sum + counter(file), 0) };
}

/** Whether the killer has struck since. */
export function oomSince(before: OomCount): boolean {
  const now = countOomKills();
  return now.machine > before.machine || now.cgroup > before.cgroup;
}

const counter = (file: string): number =>
  Number(/^oom_kill (\d+)$/m.exec(readProc(file)?.toString('latin1') ?? '')?.[1] ?? 0);

/** `memory.events` of this process's cgroup (version 2) and `memory.oom_control` (version 1). */
function cgroupFiles(): string[] {
  const lines = readProc('/proc/self/cgroup')?.toString('latin1').trim().split('\n') ?? [];
  return lines.flatMap((line) => {
    const [, controllers, path] = line.split(':');
    if (path === undefined) return [];
    if (controllers === '') return [`/sys/fs/cgroup${path}/memory.events`];
    return controllers?.split(',').includes('memory') ? [`/sys/fs/cgroup/memory${path}/memory.oom_control`] : [];
  });
}
