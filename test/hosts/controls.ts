import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allProcesses, readProc } from '../../src/machines/processes.ts';
import type { Host } from './host.ts';
import type { Settings } from './settings.ts';

/** Changes user settings of a running host; its windows see the file change. `undefined` takes a setting away. */
export const changeSettings = (host: Host, changes: Settings): void => {
  const file = join(host.userData, 'User/settings.json');
  const settings = JSON.parse(readFileSync(file, 'utf8')) as Settings;
  // In place: VS Code doesn't notice a file that another one was renamed to.
  writeFileSync(file, JSON.stringify({ ...settings, ...changes }, null, 2));
};

/** Process ids of the extension hosts, one per window. */
export const extensionHosts = (host: Host): number[] =>
  [...allProcesses().values()]
    .filter((each) => each.ppid === host.pid && commandLine(each.pid).includes('--type=extensionHost'))
    .map((each) => each.pid);

const commandLine = (pid: number) => readProc(`/proc/${pid}/cmdline`)?.toString('utf8').split('\0') ?? [];
