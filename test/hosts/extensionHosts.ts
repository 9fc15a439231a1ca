import { allProcesses, readProc } from '../../src/machines/processes.ts';
import type { Host } from './host.ts';

/** Process ids of the extension hosts, one per window. */
export const extensionHosts = (host: Host): number[] =>
  [...allProcesses().values()]
    .filter((each) => each.ppid === host.pid && commandLine(each.pid).includes('--type=extensionHost'))
    .map((each) => each.pid);

const commandLine = (pid: number) => readProc(`/proc/${pid}/cmdline`)?.toString('utf8').split('\0') ?? [];
