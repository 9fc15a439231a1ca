import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { layOut, type LayOutOptions } from '../../media/sample/digits/layOut.mjs';
import { runsOf, type RunPlace } from '../../src/client/lookup.ts';
import { readOffline } from '../../src/client/readRun.ts';
import type { LedgerEvent } from '../../src/ledger/port.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { allProcesses, commandOf } from '../../src/machines/processes.ts';
import type { RunState } from '../../src/run/model.ts';
import { until } from '../hosts/waiting.ts';

/** Where a journey's sample task and its runs lie; absolute. */
type Places = { readonly workspace: string; readonly home: string };

/** Lays the sample task out, with its two demonstration agents, in a repository of git with one commit. */
export const sampleTask =
  (options: LayOutOptions) =>
  async (workspace: string): Promise<void> => {
    layOut(workspace, join(workspace, '../hidden'), { node: process.execPath, ...options });
    const me = ['-c', 'user.name=A Person', '-c', 'user.email=person@example.org'];
    await execa('git', ['init', '-q', '-b', 'main'], { cwd: workspace });
    await execa('git', ['add', '.'], { cwd: workspace });
    await execa('git', [...me, 'commit', '-q', '-m', 'The task'], { cwd: workspace });
  };

/** The runs that there are, newest first. */
export const runsIn = ({ workspace, home }: Places): readonly RunPlace[] => runsOf(workspace, [home]);

/** What the ledger of the newest run holds, and the state that follows from it; undefined while there is none. */
export const recorded = (
  places: Places,
): { readonly state: RunState; readonly events: readonly LedgerEvent[] } | undefined => {
  const place = runsIn(places)[0];
  const read = place && readOffline(place);
  return read?.ok === true ? read.value : undefined;
};

/** Waits until the newest run's ledger says so. */
export const runReaches = async (
  places: Places,
  what: string,
  is: (state: RunState) => boolean,
  ms?: number,
): Promise<RunState> =>
  until(
    `the run to have ${what}`,
    () => {
      const state = recorded(places)?.state;
      return state && is(state) ? state : undefined;
    },
    ms,
  );

/** Process id of the controller that looks after the newest run, from its endpoint.json. */
export const controllerOf = (places: Places): number => {
  const folder = runsIn(places)[0]?.folder;
  if (folder === undefined) throw new Error(`There is no run below ${places.home}, so no controller.`);
  return (JSON.parse(readFileSync(runFiles(folder).endpoint, 'utf8')) as { pid: number }).pid;
};

/** The process that brings a controller back: its parent. */
export const keeperOf = (controller: number): number => {
  const keeper = allProcesses().get(controller)?.ppid ?? 0;
  if (!commandOf(keeper).includes('keeper')) throw new Error(`Process ${keeper} is no keeper: ${commandOf(keeper)}`);
  return keeper;
};
