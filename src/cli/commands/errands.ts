import { sayRepeats } from '../../analysis/repeatsWords.ts';
import { shownRepeats } from '../../analysis/shownScores.ts';
import { sayScore } from '../../base/numbers.ts';
import { count } from '../../base/words.ts';
import { failure } from '../../client/failure.ts';
import { findRun } from '../../client/lookup.ts';
import type { RunState } from '../../run/model.ts';
import { fail, paperOf, personOf, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { showing, type Tell } from '../progress.ts';
import { candidatesPage } from '../render/pages.ts';
import { candidatesOutput } from '../schemas.ts';
import { candidatesReport } from '../statusReport.ts';
import { reach, type Wish } from './intents.ts';
import type { RunOptions } from './looking.ts';

/** What `hma grade` may be told. */
export interface GradeOptions extends RunOptions {
  readonly all?: boolean;
  readonly regrade?: boolean;
}

/** `hma grade`: has candidates graded by the hidden grader after the end; without names those that have no grade. */
export const grade = (desk: Desk, candidates: readonly string[], options: GradeOptions): Promise<number> =>
  candidates.length === 0 && !options.all
    ? fail(
        desk,
        failure('usage', 'no_candidates', {
          what: 'hma grade was told no candidate',
          fix: 'Write hma grade e3 e7, or --all for every one that has no grade; --regrade grades again.',
        }),
        options.json ?? false,
      )
    : errand(desk, { kind: 'grade', candidates, again: options.regrade ?? false }, options);

/** `hma reevaluate ID -n TIMES`: runs the evaluator again on a candidate's files; the score stays, mean and standard error stand beside it. */
export const reevaluate = (
  desk: Desk,
  candidate: string,
  options: RunOptions & { readonly times?: number },
): Promise<number> => errand(desk, { kind: 'reevaluate', candidate, times: options.times ?? 5 }, options);

/** Asks the run, waits until all of it is done, and shows what came of it. */
async function errand(desk: Desk, wish: Wish, options: RunOptions): Promise<number> {
  const json = options.json ?? false;
  const place = findRun({ ...desk, run: options.run });
  if (!place.ok) return fail(desk, place.refusal, json);
  const done = Promise.withResolvers<void>();
  let told: Tell = () => undefined;
  const reached = await reach(desk, place.value, (_, __, state) => {
    told(progress(state));
    if (state?.errands.length === 0) done.resolve();
  });
  if (!reached.ok) return fail(desk, reached.refusal, json);
  const connection = reached.value;
  try {
    const reply = await connection.intend({ ...wish, by: personOf(desk) });
    if (!reply.done)
      return await fail(desk, failure('refused', reply.reason, { what: reply.text, fix: 'See hma status.' }), json);
    const left = (connection.state?.errands.length ?? 0) > 0;
    const lost =
      left &&
      (await showing(desk, wish.kind, (tell) => {
        (told = tell)(progress(connection.state));
        return Promise.race([done.promise.then(() => false), connection.closed.then(() => true)]);
      }));
    if (lost)
      return await fail(
        desk,
        failure('notRunning', 'lost', {
          what: 'the controller went away before all was done; what is done is kept',
          fix: 'Write the same command again: it goes on with what is left.',
        }),
        json,
      );
    const { state } = connection;
    if (!state) return exitCodes.ok;
    if (json) await sayJson(desk, candidatesOutput.parse(candidatesReport(state, state.archive)));
    else await sayLines(desk, outcomeLines(state, wish, desk));
    return exitCodes.ok;
  } finally {
    connection.close();
  }
}

/** What further runs of the evaluator gave beside a candidate's score; else all candidates, with their grades. */
function outcomeLines(state: RunState, wish: Wish, desk: Desk): string[] {
  const again = wish.kind === 'reevaluate' && state.archive.find(({ id }) => id === wish.candidate);
  if (!again || !again.reevaluations) return candidatesPage(state, state.archive, paperOf(desk));
  if (shownRepeats(state, again) === null)
    return [`${again.id} was evaluated again; this task is blind: hma reveal shows scores, and that is recorded`];
  return [`${again.id}: ${sayRepeats(again.reevaluations)}; the score that counts stays ${sayScore(again.score)}`];
}

const progress = (state: RunState | null): string => {
  const [first] = state?.errands ?? [];
  return first && state ? `${first.candidate}, ${count(state.errands.length, 'run')} left` : '';
};
