import type * as z from 'zod';

import { diskForecast, diskGrowth } from '../analysis/disk.ts';
import { handoffs, handoffTimes } from '../analysis/handoffs.ts';
import { timeShares } from '../analysis/timeShares.ts';
import { costOf, sumOf, usageOfRun, type Prices } from '../analysis/usage.ts';
import { record, standing } from '../archive/order.ts';
import { authorName } from '../archive/origin.ts';
import type { Given } from '../base/fact.ts';
import { isUndecided } from '../experiments/model.ts';
import type { ModelUsage } from '../options/usage.ts';
import { finalCandidate } from '../review/selection.ts';
import { acceptedInRun, explorationEndsAt, reviewWindowEndsAt } from '../run/schedule.ts';
import type { RunView } from '../client/readRun.ts';
import { bestOf } from './render/scene.ts';
import type { candidatesOutput, runEntry, statusOutput, usageEntry } from './schemas.ts';
import { marksOf } from './render/pages.ts';
import type { Candidate } from '../archive/model.ts';
import type { RunState } from '../run/model.ts';

/** What `hma status --json` prints; hashes of tokens and process ids stay inside. */
export function statusReport(view: RunView, given: Given, prices: Prices): z.input<typeof statusOutput> {
  const { state, place, live } = view;
  const { terms } = state;
  const times = handoffTimes(handoffs(state));
  const until =
    state.phase === 'exploring'
      ? explorationEndsAt(state, given)
      : state.phase === 'reviewing'
        ? reviewWindowEndsAt(state, given)
        : given.active;
  return {
    run: place.run,
    runFolder: place.folder,
    workspace: state.workspace,
    name: terms.name,
    from: earlierReport(state),
    live,
    seq: state.seq,
    phase: state.phase,
    pause: state.pause && {
      reason: state.pause.reason,
      detail: state.pause.detail,
      by: state.pause.by,
      until: state.pause.until ?? null,
    },
    pauseAfter: state.pauseAfter,
    active: given.active,
    budgets: { ...state.budgets, tokens: state.budgets.tokens ?? null, cost: state.budgets.cost ?? null },
    leftMs: Math.max(0, until - given.active),
    isolation: { tier: state.isolation.tier, cannot: [...state.isolation.cannot] },
    agents: { A: terms.agents.A.name, B: terms.agents.B.name },
    experiments: {
      accepted: acceptedInRun(state),
      rejected: state.experiments.filter((one) => one.state === 'rejected').length,
      pending: state.experiments.filter(isUndecided).map(({ id }) => id),
    },
    options: state.options.map((option) => optionReport(state, option, prices)),
    review: state.review && {
      reviewer: state.review.reviewer,
      state: state.review.state,
      outcome: state.review.outcome,
      nomination: state.review.nomination?.candidate ?? null,
    },
    standing: standing(state.archive)?.id ?? null,
    record: record(state.archive, terms.metric)?.id ?? null,
    final: finalCandidate({ ...terms, ...state }) ?? null,
    handoffs: {
      count: times.count,
      p50: times.p50 ?? null,
      p95: times.p95 ?? null,
      firstOutputP50: times.firstOutputP50 ?? null,
      firstOutputP95: times.firstOutputP95 ?? null,
      rows: [...handoffs(state)],
    },
    time: timeShares(state, given),
    usage: runUsageReport(state, prices),
    disk: diskReport(state),
    notices: [...state.notices],
    problems: view.problems.map(({ file, line, reason, detail }) => ({ file, line, reason, detail })),
  };
}

function earlierReport({ from }: RunState): z.input<typeof statusOutput>['from'] {
  if (from === undefined) return null;
  const { run, seq, hash, candidates } = from;
  return { run, seq, hash, candidates };
}

/** What is free, what grew and when a floor will be reached; null before the first look. */
function diskReport(state: RunState): z.input<typeof statusOutput>['disk'] {
  const last = state.disk.at(-1);
  if (!last) return null;
  const growth = diskGrowth(state.disk);
  const forecast = diskForecast(state.disk);
  return {
    at: last.active,
    places: last.places.map((place) => ({ ...place, holds: [...place.holds] })),
    bytes: last.bytes,
    grown: growth && { ...growth.by, other: growth.other },
    forecast: forecast && {
      path: forecast.place.path,
      perHour: Math.round(forecast.perHour),
      reachedAt: Math.round(forecast.reachedAt),
      mostly: forecast.mostly,
    },
  };
}

function optionReport(
  state: RunState,
  option: RunState['options'][number],
  prices: Prices,
): z.input<typeof statusOutput>['options'][number] {
  const { number, agent, closure, endedItself, submissions, openedAt, endingAt, closedAt } = option;
  return {
    number,
    agent,
    state: option.state,
    closure,
    endedItself,
    attempts: option.attempts.length,
    accepted: [...option.accepted],
    submissions,
    best: bestOf(state, option) ?? null,
    openedAt,
    endingAt,
    closedAt,
    usage: usageReport(option.usage, prices),
  };
}

function usageReport(usages: readonly ModelUsage[], prices: Prices): z.input<typeof usageEntry> {
  const cost = costOf(usages, prices);
  const known = (amount: number): number | null => (amount === 0 && cost.unpriced.length > 0 ? null : amount);
  return {
    ...sumOf(usages),
    cost: { billed: known(cost.billed), withoutCache: known(cost.withoutCache), unpriced: [...cost.unpriced] },
  };
}

function runUsageReport(state: RunState, prices: Prices): z.input<typeof statusOutput>['usage'] {
  const { models, agents, review } = usageOfRun(state);
  const of = (usages: readonly ModelUsage[]) => usageReport(usages, prices);
  return {
    total: of(models),
    agents: { A: of(agents.A), B: of(agents.B) },
    review: of(review),
    models: models.map((one) => ({ model: one.model, ...of([one]) })),
  };
}

const reportedGrade = (
  { gradesRevealed }: RunState,
  { grade }: Candidate,
): z.input<typeof candidatesOutput>['candidates'][number]['grade'] =>
  grade?.kind === 'graded' && !gradesRevealed ? { kind: 'hidden' } : grade;

/** What `hma candidates --json` prints, in the order given. */
export function candidatesReport(state: RunState, candidates: readonly Candidate[]): z.input<typeof candidatesOutput> {
  const marks = marksOf(state);
  const { name, direction } = state.terms.metric;
  return {
    run: state.run,
    metric: { name, direction },
    candidates: candidates.map((candidate) => ({
      ...candidate,
      grade: reportedGrade(state, candidate),
      agent: authorName(candidate, state.terms.agents),
      origin: candidate.origin ?? null,
      flags: [...candidate.flags],
      marks: [...(marks.get(candidate.id) ?? [])],
    })),
  };
}

/** One entry of `hma list`. */
export function runReport({ state, place, live }: RunView): z.input<typeof runEntry> {
  return {
    run: place.run,
    runFolder: place.folder,
    workspace: state.workspace,
    name: state.terms.name,
    openedWall: state.openedWall,
    phase: state.phase,
    paused: state.pause !== null,
    live,
    options: state.options.length,
    accepted: acceptedInRun(state),
    from: state.from?.run ?? null,
    record: record(state.archive, state.terms.metric)?.score ?? null,
    final: finalCandidate({ ...state.terms, ...state })?.candidate ?? null,
  };
}
