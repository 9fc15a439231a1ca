import { reviveRun } from '../../controller/launch.ts';
import type { Intent } from '../../protocol/client.ts';
import { parseDateTime, parseDuration, parseTokens } from '../../task/quantities.ts';
import { attach, type OnEvent, type RunConnection } from '../../client/connection.ts';
import { fail, personOf, sayJson, sayLines, type Desk } from '../desk.ts';
import { confirmed } from '../asking.ts';
import { exitCodes } from '../exitCodes.ts';
import { failure, type Failure } from '../../client/failure.ts';
import { findRun, type RunPlace } from '../../client/lookup.ts';
import { readOffline } from '../../client/readRun.ts';
import { intentOutput } from '../schemas.ts';
import { ok, refused, type Result } from '../../base/result.ts';
import { startFailure } from './starting.ts';
import type { RunOptions } from './looking.ts';

/** An intent without the person's name. */
export type Wish = Intent extends infer Each ? (Each extends Intent ? Omit<Each, 'by'> : never) : never;

interface Asking extends RunOptions {
  readonly wish: Wish;
  /** What to say when it is done. */
  readonly said: string;
}

/** The run's controller; one is started where none lives, since only it writes the ledger. */
export async function reach(desk: Desk, place: RunPlace, onEvent?: OnEvent): Promise<Result<RunConnection, Failure>> {
  const following = onEvent === undefined ? {} : { onEvent };
  const connection = await attach(place.folder, following);
  if (connection) return ok(connection);
  const revived = await reviveRun({ runFolder: place.folder, env: desk.env });
  if (!revived.ok) return refused(startFailure(revived.refusal));
  const again = await attach(place.folder, following);
  return again
    ? ok(again)
    : refused(
        failure('notRunning', 'no_controller', {
          what: `the controller of run ${place.run} left again at once`,
          fix: `Read ${place.folder}/controller.log.`,
        }),
      );
}

/** Tells a run what a person wants, and the person what became of it. */
async function ask(desk: Desk, { wish, said, ...options }: Asking): Promise<number> {
  const json = options.json ?? false;
  const place = findRun({ ...desk, run: options.run });
  if (!place.ok) return fail(desk, place.refusal, json);
  const over = afterTheEnd.has(wish.kind) ? null : finishedFailure(place.value);
  if (over) return fail(desk, over, json);
  const reached = await reach(desk, place.value);
  if (!reached.ok) return fail(desk, reached.refusal, json);
  try {
    const reply = await reached.value.intend({ ...wish, by: personOf(desk) });
    if (!reply.done)
      return await fail(
        desk,
        failure('refused', reply.reason, { what: reply.text, fix: 'Nothing was changed. See hma status.' }),
        json,
      );
    if (json) await sayJson(desk, intentOutput.parse({ run: place.value.run, done: true, seq: reply.seq }));
    else await sayLines(desk, [said]);
    return exitCodes.ok;
  } finally {
    reached.value.close();
  }
}

/** What can be wished of a run that is over. */
const afterTheEnd: ReadonlySet<Wish['kind']> = new Set(['select', 'clearSelection', 'revealGrades', 'disqualify']);

/** A finished run needs no controller to say no. */
function finishedFailure(place: RunPlace): Failure | null {
  const read = readOffline(place);
  if (!read.ok || read.value.state.phase !== 'finished') return null;
  return failure('refused', 'finished', {
    what: `run ${place.run} is over; only its selection can still be changed`,
    fix: 'See hma candidates and hma select, or start another run with hma run.',
  });
}

/** `hma pause`. */
export const pause = (desk: Desk, options: RunOptions & { readonly after?: boolean }): Promise<number> =>
  ask(desk, {
    ...options,
    wish: { kind: 'pause', after: options.after ?? false },
    said: options.after
      ? 'The run pauses after this session. Go on with hma resume.'
      : 'The run is paused; its clock stands. Go on with hma resume.',
  });

/** `hma handoff`. */
export const handoff = (desk: Desk, options: RunOptions): Promise<number> =>
  ask(desk, { ...options, wish: { kind: 'handoff' }, said: 'This session ends; the other agent is next.' });

/** `hma message`: what a person says to the running session. */
export const message = (desk: Desk, words: readonly string[], options: RunOptions): Promise<number> => {
  const text = words.join(' ').trim();
  return text === ''
    ? fail(
        desk,
        failure('usage', 'no_message', {
          what: 'hma message was given nothing to say',
          fix: 'Write hma message "look at the learning rate first".',
        }),
        options.json ?? false,
      )
    : ask(desk, { ...options, wish: { kind: 'message', text }, said: 'The session gets it at its next step. hma log' });
};

/** `hma review`. */
export const review = (desk: Desk, options: RunOptions): Promise<number> =>
  ask(desk, { ...options, wish: { kind: 'review' }, said: 'Exploration ends; the final review begins.' });

/** `hma reveal`: a deliberate act, since selections after it are marked. */
export const reveal = (desk: Desk, options: RunOptions): Promise<number> =>
  ask(desk, {
    ...options,
    wish: { kind: 'revealGrades' },
    said: 'Grades are shown from now on (hma candidates); selections after this are marked as made with them known.',
  });

/** `hma disqualify ID`: a candidate that must not be chosen, such as for a forged result; on record with why. */
export function disqualify(
  desk: Desk,
  candidate: string,
  options: RunOptions & { readonly reason?: string; readonly undo?: boolean },
): Promise<number> {
  const reason = options.reason?.trim() ?? '';
  if (reason === '')
    return fail(
      desk,
      failure('usage', 'no_reason', {
        what: 'a disqualification needs a reason: it stays on record',
        fix: 'Add --reason "…".',
      }),
      options.json ?? false,
    );
  const undo = options.undo ?? false;
  return ask(desk, {
    ...options,
    wish: { kind: 'disqualify', candidate, undo, reason },
    said: undo
      ? `${candidate} can be chosen again.`
      : `${candidate} is disqualified: it is no longer standing, record or final.`,
  });
}

/** `hma stop`: asks first, unless told not to. */
export async function stop(desk: Desk, options: RunOptions & { readonly yes?: boolean }): Promise<number> {
  const yes = await confirmed(desk, {
    question: 'Stop the run? Its session ends now, there is no review; candidates are kept.',
    command: 'hma stop',
    yes: options.yes ?? false,
  });
  if (typeof yes !== 'boolean') return fail(desk, yes, options.json ?? false);
  if (!yes) return exitCodes.ok;
  return ask(desk, {
    ...options,
    wish: { kind: 'stop' },
    said: 'The run is being stopped: its processes are ended, then it is over. hma status',
  });
}

/** What `hma budget` may be told, as written. */
export interface BudgetOptions extends RunOptions {
  readonly total?: string;
  readonly add?: string;
  readonly review?: string;
  readonly experiments?: string;
  readonly tokens?: string;
  readonly cost?: string;
  readonly until?: string;
}

/** `hma budget`: changes what is left. */
export async function budget(desk: Desk, options: BudgetOptions): Promise<number> {
  const place = findRun({ ...desk, run: options.run });
  if (!place.ok) return fail(desk, place.refusal, options.json ?? false);
  const read = readOffline(place.value);
  if (!read.ok) return fail(desk, read.refusal, options.json ?? false);
  const wish = budgetWish(options, read.value.state.budgets.totalMs);
  if (!wish.ok) return fail(desk, wish.refusal, options.json ?? false);
  return ask(desk, { ...options, wish: wish.value, said: 'The budgets are changed. See hma status.' });
}

/** Reads the wish of `hma budget`; refuses what is no duration, number or date, and an empty wish. `totalMs` is the total so far. */
export function budgetWish(
  options: Omit<BudgetOptions, keyof RunOptions>,
  totalMs: number,
): Result<Extract<Wish, { kind: 'budget' }>, Failure> {
  const wrong = (name: string, value: string, expected: string) =>
    refused(
      failure('usage', `bad_${name}`, {
        what: `--${name} takes ${expected}, not ${JSON.stringify(value)}`,
        fix: 'See hma budget --help.',
      }),
    );
  const durations: { total?: number; add?: number; review?: number } = {};
  for (const name of ['total', 'add', 'review'] as const) {
    const text = options[name];
    const ms = text === undefined ? undefined : parseDuration(text);
    if (text !== undefined && ms === undefined) return wrong(name, text, 'a duration such as 1h30m or 45m');
    if (ms !== undefined) durations[name] = ms;
  }
  if (durations.total !== undefined && durations.add !== undefined)
    return refused(
      failure('usage', 'total_and_add', {
        what: '--total and --add are given both',
        fix: 'Give one: --total 8h sets the whole, --add 1h adds to it.',
      }),
    );
  const { experiments, until, tokens, cost } = options;
  if (experiments !== undefined && experiments !== 'none' && !/^[1-9]\d{0,8}$/.test(experiments))
    return wrong('experiments', experiments, 'a number above 0, or none');
  const tokensWish = tokens === undefined || tokens === 'none' ? null : parseTokens(tokens);
  if (tokensWish === undefined || tokensWish === 0)
    return wrong('tokens', tokens as string, 'a number of tokens such as 5M or 200k, or none');
  const costWish = cost === undefined || cost === 'none' ? null : Number(cost);
  if (costWish !== null && !(costWish > 0 && Number.isFinite(costWish)))
    return wrong('cost', cost as string, 'an amount in US dollars such as 20, or none');
  const untilWall = until === undefined || until === 'none' ? null : parseDateTime(until);
  if (untilWall === undefined)
    return wrong('until', until as string, 'a date and time such as 2026-12-01T18:00 or none');
  const total = durations.total ?? (durations.add === undefined ? undefined : totalMs + durations.add);
  const wish = {
    kind: 'budget' as const,
    ...(total === undefined ? {} : { totalMs: total }),
    ...(durations.review === undefined ? {} : { reviewMs: durations.review }),
    ...(experiments === undefined ? {} : { experiments: experiments === 'none' ? null : Number(experiments) }),
    ...(tokens === undefined ? {} : { tokens: tokensWish }),
    ...(cost === undefined ? {} : { cost: costWish }),
    ...(until === undefined ? {} : { until: untilWall }),
  };
  if (Object.keys(wish).length === 1)
    return refused(
      failure('usage', 'nothing_to_change', {
        what: 'hma budget was told nothing to change',
        fix: 'Add --total, --add, --review, --experiments, --tokens, --cost or --until.',
      }),
    );
  return ok(wish);
}

/** `hma select`: a person's pin on a candidate, or its removal. */
export async function select(
  desk: Desk,
  candidate: string | undefined,
  options: RunOptions & { readonly reason?: string; readonly clear?: boolean },
): Promise<number> {
  const reason = options.reason?.trim() ?? '';
  const misuse = (what: string, fix: string): Promise<number> =>
    fail(desk, failure('usage', 'bad_selection', { what, fix }), options.json ?? false);
  if (options.clear && candidate !== undefined)
    return misuse(
      '--clear takes no candidate',
      'Either hma select ID --reason "…", or hma select --clear --reason "…".',
    );
  if (!options.clear && candidate === undefined)
    return misuse('hma select needs a candidate', 'hma candidates lists them; then hma select e3 --reason "…".');
  if (reason === '') return misuse('a selection needs a reason: it stays on record', 'Add --reason "…".');
  if (candidate === undefined)
    return ask(desk, {
      ...options,
      wish: { kind: 'clearSelection', reason },
      said: "Your selection is cleared: the run's own counts again.",
    });
  return ask(desk, {
    ...options,
    wish: { kind: 'select', candidate, reason },
    said: `${candidate} is the final candidate, until you clear it with hma select --clear.`,
  });
}
