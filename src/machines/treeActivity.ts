import { listGpuProcesses, listGpus } from './gpus.ts';
import { outputLength } from './outputLog.ts';
import { membersOf, type ProcessTree } from './processTree.ts';
import { isAlive, processAt } from './processes.ts';

/** Signs of life of a whole tree, to be compared with an earlier look: any difference in `cpuMs`, `outputBytes` or `processes` is activity. */
export interface TreeActivity {
  /** CPU used by the living members and the children they waited for, milliseconds in steps of 10. May fall when a member goes. */
  readonly cpuMs: number;
  readonly outputBytes: number;
  /** Whether a GPU on which a member computes is busy now; null where GPUs or their programs can't be asked. */
  readonly gpuBusy: boolean | null;
  readonly processes: number;
}

/** Looks at a tree's activity; `dir` is its runner folder. Asks nvidia-smi, which may take a second. */
export async function treeActivity(tree: ProcessTree, dir: string): Promise<TreeActivity> {
  const members = membersOf(tree, { byMarker: !tree.supervisors.some((one) => isAlive(one)) });
  const wrappers = tree.supervisors.flatMap((one) => processAt(one.pid) ?? []);
  // orphans are waited for by the reaper: their time is found there
  const cpuMs = [...members, ...wrappers].reduce((sum, one) => sum + one.cpuMs, 0);
  return {
    cpuMs,
    outputBytes: outputLength(dir),
    gpuBusy: await gpuBusy(new Set(members.map((one) => one.pid))),
    processes: members.length,
  };
}

async function gpuBusy(pids: ReadonlySet<number>): Promise<boolean | null> {
  const gpus = await listGpus();
  if (gpus.length === 0) return null;
  const programs = await listGpuProcesses();
  if (programs === null) return null;
  const used = new Set(programs.filter((one) => pids.has(one.pid)).map((one) => one.uuid));
  const mine = gpus.filter((gpu) => used.has(gpu.uuid));
  if (mine.length === 0) return false;
  const known = mine.flatMap((gpu) => gpu.utilization ?? []);
  return known.length === 0 ? null : known.some((share) => share > 0);
}
