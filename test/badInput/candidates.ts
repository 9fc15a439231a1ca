import { execFileSync } from 'node:child_process';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';

import { admit, decideSubmission, type Caller } from '../../src/experiments/decide.ts';
import { decideBallot } from '../../src/review/decide.ts';
import type { RunState } from '../../src/run/model.ts';
import { openSnapshots } from '../../src/snapshots/store.ts';
import { sayReceipt } from '../../src/session/words.ts';
import { history, openedWall, stateOf, wholeRun } from '../cli/history.ts';
import type { BadInput, BadInputs } from './badInput.ts';
import type { Place } from './place.ts';

/** Files that can't be taken: what the receipt says after "rejected". */
const files = (
  name: string,
  given: string,
  more: {
    readonly make: (place: Place) => void;
    readonly include?: readonly string[];
    readonly limits?: { bytes: number; files: number };
  },
  ...says: readonly string[]
): BadInput => ({
  name,
  given,
  says,
  give: async (place) => {
    more.make(place);
    const store = await openSnapshots({ dir: join(place.root, 'snapshots') });
    try {
      const taken = await store.capture({
        ...{
          root: place.workspace,
          include: more.include ?? ['solution'],
          exclude: ['.hma'],
          kind: 'candidate',
          ref: 'e1',
        },
        limits: more.limits ?? { bytes: 2e9, files: 20_000 },
      });
      if (taken.ok) return `taken: ${taken.value.files} files`;
      const { reason, path, detail } = taken.refusal;
      const code = reason === 'too_large' || reason === 'unstable' ? reason : 'invalid';
      const where = path === undefined || detail.includes(path) ? '' : `${path}: `;
      return sayReceipt({
        ...{ id: 'e1', outcome: 'rejected', code, reason: `${where}${detail}` },
        remaining: { timeMs: 3_600_000, experiments: null },
      });
    } finally {
      await store.close();
    }
  },
});

const at = (active: number) => ({ wall: openedWall + active, mono: 0, boot: '', active });
const captured = { snapshot: 'ff', contentHash: 'sha256:new', files: 1, bytes: 1 };

/** What the gate says to a session: refused before anything is kept. */
const gate = (
  name: string,
  given: string,
  said: { readonly state: () => RunState; readonly caller?: Caller; readonly active?: number },
  ...says: readonly string[]
): BadInput => ({
  name,
  given,
  says,
  give: () => {
    const state = said.state();
    const caller = said.caller ?? { kind: 'option' as const, option: state.options.at(-1)?.number ?? 0 };
    const refused = admit(state, caller, at(said.active ?? state.clock.active));
    return refused ? `hma: refused (${refused.code}): ${refused.reason}` : 'admitted';
  },
});

/** What becomes of files that are captured, but not to be judged. */
const judged = (
  name: string,
  given: string,
  more: { readonly hash?: (state: RunState) => string; readonly tampered?: readonly string[] },
  ...says: readonly string[]
): BadInput => ({
  name,
  given,
  says,
  give: () => {
    const state = open(2);
    const option = state.options.at(-1);
    if (!option) throw new Error('no option');
    const decided = decideSubmission(state, {
      ...{ option, attempt: 1, note: null, reported: null, tampered: more.tampered ?? [] },
      captured: { ...captured, contentHash: more.hash?.(state) ?? captured.contentHash },
    });
    if (decided.kind === 'known') return `known as ${decided.id}`;
    const rejected = decided.facts.find(({ type }) => type === 'experiment.rejected');
    if (rejected?.type !== 'experiment.rejected') return 'judged';
    const { id, code, reason } = rejected.data;
    return sayReceipt({ id, outcome: 'rejected', code, reason, remaining: { timeMs: 3_600_000, experiments: null } });
  },
});

/** The run of `wholeRun` up to where an option has just been opened. */
function open(number: number): RunState {
  const facts = wholeRun();
  const end = facts.findIndex(
    ([, { type, data }]) => type === 'option.opened' && (data as { option?: number }).option === number,
  );
  return stateOf(history(...facts.slice(0, end + 1)));
}

const ballot = (
  name: string,
  words: { candidate: unknown; reason: unknown },
  ...says: readonly string[]
): BadInput => ({
  name,
  given: `hma nominate ${String(words.candidate)} --reason ${JSON.stringify(words.reason)}`,
  says,
  give: () => {
    const { data } = decideBallot(stateOf(history(...wholeRun())), words);
    return data.valid ? `nominated ${data.candidate}` : `hma: refused (invalid): ${data.why}`;
  },
});

/** Submissions that are turned away. */
export const candidates: BadInputs = {
  title: 'Candidates and submissions',
  about:
    'What `hma submit` and `hma nominate` answer inside a session. In a blind task the reason is left out. A rejected submission never counts.',
  cases: [
    files(
      'no candidate files',
      'candidate: solution, and no such folder',
      { make: () => undefined },
      'solution',
      'rejected (invalid)',
    ),
    files(
      'a pattern that matches nothing',
      'candidate: "*.bin", and no such file',
      { make: (place) => void place.write('a.py', ''), include: ['*.bin'] },
      '*.bin',
      'rejected (invalid)',
    ),
    files(
      'a FIFO',
      'mkfifo solution/pipe',
      {
        make: (place) => {
          place.write('solution/model.py', '');
          execFileSync('mkfifo', [join(place.workspace, 'solution/pipe')]);
        },
      },
      'solution/pipe',
      'rejected (invalid)',
    ),
    files(
      'too many bytes',
      'limits: {candidateSize: 1MB}, and a file of 5 MB',
      {
        make: (place) => truncateSync(place.write('solution/model.bin', ''), 5_000_000),
        limits: { bytes: 1_000_000, files: 10 },
      },
      'rejected (too_large)',
      'solution/model.bin',
    ),
    files(
      'too many files',
      'limits: {candidateFiles: 3}, and ten files',
      {
        make: (place) => {
          for (let index = 0; index < 10; index += 1) place.write(`solution/${index}.py`, '');
        },
        limits: { bytes: 1e9, files: 3 },
      },
      'rejected (too_large)',
      '3',
    ),
    judged(
      'a protected file that was changed',
      'eval.py was changed',
      { tampered: ['eval.py'] },
      'tampered',
      'eval.py',
      'hma archive get protected',
    ),
    judged(
      'the files of another candidate',
      'the same bytes as e1',
      { hash: (state) => state.archive[0]?.contentHash ?? '' },
      'duplicate',
      'e1',
    ),
    gate(
      'after the end',
      'hma submit, when the run is over',
      { state: () => stateOf(history(...wholeRun())) },
      'not_your_turn',
      'the run is over',
    ),
    gate(
      'from an earlier session',
      'hma submit, with the token of option 1 in option 2',
      { state: () => open(2), caller: { kind: 'unknown' } },
      'not_your_turn',
    ),
    gate(
      'in the review',
      'hma submit, by the reviewer',
      { state: () => open(2), caller: { kind: 'review' } },
      'in_review',
      'nominate',
    ),
    gate(
      'after the deadline',
      'hma submit, when exploration’s time is used up',
      { state: () => open(2), active: 600_000 },
      'late',
      'exploration is over',
    ),
    gate(
      'in a pause',
      'hma submit, while the run is paused',
      { state: () => paused() },
      'paused',
      'submit again when it goes on',
    ),
    gate('while it is stopped', 'hma submit, after hma stop', { state: () => stopping() }, 'cancelled', 'stopped'),
    ballot('a nomination of nothing', { candidate: 'e99', reason: 'best' }, '"e99"', 'hma archive'),
    ballot('a nomination without a reason', { candidate: 'e3', reason: ' ' }, 'reason', 'in words'),
    ballot('a nomination by number', { candidate: 3, reason: 'best' }, 'candidate', '"e3"'),
  ],
};

function paused(): RunState {
  const facts = wholeRun();
  const end = facts.findIndex(([, { type }]) => type === 'option.opened');
  return stateOf(
    history(...facts.slice(0, end + 1), [
      9,
      { type: 'run.paused', data: { reason: 'requested', detail: 'paused by ada', by: 'ada' } },
    ]),
  );
}

function stopping(): RunState {
  const facts = wholeRun();
  const end = facts.findIndex(([, { type }]) => type === 'option.opened');
  return stateOf(history(...facts.slice(0, end + 1), [9, { type: 'run.stopping', data: { by: 'ada' } }]));
}
