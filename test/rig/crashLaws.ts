import { join } from 'node:path';

import { runFiles } from '../../src/ledger/places.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';
import { finalCandidate } from '../../src/review/selection.ts';
import { replayRun } from '../../src/run/evolve.ts';
import type { RunState } from '../../src/run/model.ts';
import { openSnapshots } from '../../src/snapshots/store.ts';

/** What must hold of a finished run whatever died in it; each broken law in words, none when all hold. */
export async function brokenLaws(given: {
  runFolder: string;
  seenState: RunState | null;
  cap: number;
}): Promise<string[]> {
  const { runFolder, seenState, cap } = given;
  const { events, problems } = readLedger(runFolder);
  const state = replayRun(events);
  if (!state) return ['the ledger has no run'];
  const broken: string[] = [];
  const must = (holds: boolean, words: string): void => void (holds || broken.push(words));
  must(!problems.some(({ fatal }) => fatal), `the ledger is broken: ${JSON.stringify(problems)}`);
  must(state.phase === 'finished', `the run is ${state.phase}`);
  const asSeen = replayRun(events.filter(({ seq }) => seq <= (seenState?.seq ?? 0)));
  must(JSON.stringify(asSeen) === JSON.stringify(seenState), 'what the client folded is not what a replay gives');
  // invariant 1: accepted once, each with its files
  const accepted = events
    .filter(({ type }) => type === 'experiment.accepted')
    .map(({ data }) => (data as { id: string }).id);
  must(new Set(accepted).size === accepted.length, `accepted twice: ${accepted.join(' ')}`);
  must(
    accepted.join() === state.archive.map(({ id }) => id).join(),
    `accepted ${accepted.join()}, archived ${state.archive.map(({ id }) => id).join()}`,
  );
  must(
    state.experiments.every((e) => e.state === 'accepted' || e.state === 'rejected'),
    'an experiment was never decided',
  );
  // invariant 2: at most k
  for (const option of state.options)
    must(option.accepted.length <= cap, `option ${option.number} has ${option.accepted.length} accepted`);
  // invariant 3: one session at a time, the successor after the predecessor's end
  must(overlaps(events).length === 0, `sessions overlap: ${overlaps(events).join('; ')}`);
  // invariant 11: strict alternation
  must(
    state.options.every((option, index) => option.agent !== state.options[index - 1]?.agent),
    'an agent had two options in a row',
  );
  // invariant 7: the selection exists
  must(
    state.archive.length === 0 || finalCandidate({ ...state, ...state.terms }) !== undefined,
    'there is no selection',
  );
  must(state.archive.length === 0 || state.selections.length > 0, 'no selection was recorded');
  const snapshots = await openSnapshots({
    dir: runFiles(runFolder).snapshots,
    env: { PATH: process.env['PATH'] ?? '' },
  });
  for (const { id, snapshot } of state.archive) {
    const damage = (await snapshots.has(snapshot)) ? await snapshots.verify(snapshot) : [{ detail: 'it is not there' }];
    must(damage.length === 0, `files of ${id} in ${join(runFolder, 'snapshots')}: ${JSON.stringify(damage)}`);
  }
  await snapshots.close();
  return broken;
}

/** Sessions that began before the one before was gone. */
function overlaps(events: readonly { type: string; data: unknown }[]): string[] {
  const found: string[] = [];
  let open: string | null = null;
  for (const { type, data } of events) {
    const name = `option ${(data as { option?: number }).option}`;
    if (type === 'option.opened' || type === 'review.opened') {
      if (open !== null) found.push(`${name} while ${open}`);
      open = name;
    }
    if (type === 'option.closed' || type === 'review.closed') open = null;
  }
  return found;
}
