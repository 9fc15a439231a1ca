import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A GPU as nvidia-smi tells of it; null is what it can't or mayn't tell. Memory in MiB, utilization in percent. */
export interface Gpu {
  readonly index: number;
  readonly uuid: string;
  readonly name: string;
  readonly memoryTotal: number | null;
  readonly memoryUsed: number | null;
  readonly utilization: number | null;
}

/** A program that computes on a GPU. */
export interface GpuProcess {
  readonly uuid: string;
  readonly pid: number;
  readonly memoryUsed: number | null;
  readonly name: string;
}

/** A hanging driver must not hang the controller. */
const timeoutMs = 10_000;

/** The machine's NVIDIA GPUs; empty when there are none, or no driver that answers in time. */
export async function listGpus(): Promise<Gpu[]> {
  const rows = await query(['--query-gpu=index,uuid,memory.total,memory.used,utilization.gpu,name']);
  return (rows ?? []).map(([index = '', uuid = '', total = '', used = '', utilization = '', ...name]) => ({
    ...{ index: Number(index), uuid, name: name.join(', ') },
    ...{ memoryTotal: numberOf(total), memoryUsed: numberOf(used), utilization: numberOf(utilization) },
  }));
}

/** The programs on the GPUs; null when they can't be listed. Inside a container the pids may be the machine's own. */
export async function listGpuProcesses(): Promise<GpuProcess[] | null> {
  const rows = await query(['--query-compute-apps=gpu_uuid,pid,used_memory,process_name']);
  return (
    rows &&
    rows.map(([uuid = '', pid = '', memory = '', ...name]) => ({
      uuid,
      pid: Number(pid),
      memoryUsed: numberOf(memory),
      name: name.join(', '),
    }))
  );
}

/** Rows of an nvidia-smi query; free text comes last, since it may hold commas. Null when it isn't there, fails or hangs. */
function query(what: readonly string[]): Promise<string[][] | null> {
  // a spawn that only finds nothing costs milliseconds, and idle sessions are looked at all night
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  if (!folders.some((folder) => existsSync(join(folder, 'nvidia-smi')))) return Promise.resolve(null);
  return new Promise((resolve) => {
    const options = { timeout: timeoutMs, killSignal: 'SIGKILL', env: { ...process.env, LC_ALL: 'C' } } as const;
    execFile('nvidia-smi', [...what, '--format=csv,noheader,nounits'], options, (failed, stdout) => {
      if (failed) return resolve(null);
      const lines = stdout.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('No '));
      resolve(lines.map((line) => line.split(', ')));
    });
  });
}

/** Whether nvidia-smi is there and answers in at most so many ms. Its output is not looked at. */
export const gpuDriver = (ms: number): Promise<'answers' | 'absent' | 'hangs'> =>
  new Promise((resolve) => {
    const options = { timeout: Math.min(ms, timeoutMs), killSignal: 'SIGKILL' } as const;
    execFile('nvidia-smi', ['-L'], options, (failed) =>
      resolve(failed?.code === 'ENOENT' ? 'absent' : failed?.signal === 'SIGKILL' ? 'hangs' : 'answers'),
    );
  });

/** `[N/A]`, `[Not Supported]`, `[Insufficient Permissions]` and the like are null. */
const numberOf = (text: string): number | null => (/^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null);
