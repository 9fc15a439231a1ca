import { describe, expect, it } from 'vitest';

import { finalCandidate } from '../../src/review/selection.ts';
import type { ReviewOutcome } from '../../src/review/model.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { counts, ofType, simulated, walk } from './traces.ts';
import type { Trace } from './simulation.ts';

const { traces, hold } = simulated(4);

const outcomeOf = (trace: Trace) => ofType(trace.events, 'review.closed')[0]?.data.outcome;

/** The honest word, worked out anew from what happened. */
function word(trace: Trace): ReviewOutcome {
  const { events, state } = trace;
  if (ofType(events, 'review.opened').length === 0) {
    const stopped = ofType(events, 'run.stopping').some(
      ({ seq }) => seq < (ofType(events, 'review.closed')[0]?.seq ?? 0),
    );
    return stopped || state.terms.policy.mode === 'single' || state.archive.length < 2 ? 'skipped' : 'late';
  }
  const ballots = ofType(events, 'ballot.cast').map(({ data }) => data);
  const valid = ballots.findLast((ballot) => ballot.valid);
  if (valid?.valid) return valid.candidate === state.archive.at(-1)?.id ? 'endorsed' : 'chosen';
  const reason = ofType(events, 'review.ending')[0]?.data.reason;
  if (reason === 'stopped') return 'skipped';
  if (ballots.length > 0) return 'invalid';
  if (reason === 'deadline') return 'late';
  return reason === 'failed' ? 'crashed' : 'silent';
}

describe('the final review', () => {
  it('the reviewer is not the author of the standing candidate', () => {
    hold(({ events, state }) => {
      for (const { data } of ofType(events, 'review.opened')) {
        const author = state.archive.at(-1)?.author;
        expect(author === 'A' ? 'B' : 'A').toBe(data.reviewer);
        expect(state.archive.length).toBeGreaterThan(1);
      }
      const selected = ofType(events, 'candidate.selected').find(({ data }) => data.by === 'reviewer');
      const author = state.archive.at(-1)?.author === 'A' ? 'B' : 'A';
      if (selected) expect(selected.data.who).toBe(state.terms.agents[author].name);
    });
  });

  it('it is skipped exactly where nothing is to be chosen, there is no other agent, or a person stopped the run', () => {
    hold((trace) => {
      const { state, events } = trace;
      if (outcomeOf(trace) !== 'skipped') return;
      const stopped = ofType(events, 'run.stopping').length > 0;
      expect(state.archive.length < 2 || state.terms.policy.mode === 'single' || stopped).toBe(true);
    });
  });

  it('it comes out in one honest word, and all seven are reached', () => {
    hold((trace) => expect(outcomeOf(trace)).toBe(word(trace)));
    const words = counts(traces.map((trace) => String(outcomeOf(trace))));
    for (const outcome of ['chosen', 'endorsed', 'silent', 'crashed', 'late', 'invalid', 'skipped'])
      expect(words[outcome], outcome).toBeGreaterThan(5);
  });

  it('it is committed inside its window', () => {
    hold(({ events, scenario, state }) => {
      const window = ofType(events, 'exploration.ended')[0]?.active ?? 0;
      const closed = ofType(events, 'review.closed')[0];
      const undisturbed =
        scenario.deaths.length === 0 && state.budgets.until === null && ofType(events, 'review.reaped').length < 2;
      if (!closed || !undisturbed || ofType(events, 'review.opened').length === 0) return;
      expect(closed.active).toBeLessThanOrEqual(Math.min(window + state.budgets.reviewMs, state.budgets.totalMs));
      expect(ofType(events, 'candidate.selected').find(({ data }) => data.by !== 'person')?.active).toBe(closed.active);
    });
    expect(
      traces.filter((trace) => trace.scenario.deaths.length === 0 && ofType(trace.events, 'review.opened').length > 0)
        .length,
    ).toBeGreaterThan(100);
  });

  it('a silent or crashed reviewer is asked once more, if a third of the window is left and nothing was nominated', () => {
    hold((trace) =>
      walk(trace, (event, before) => {
        if (event.type !== 'attempt.starting' || event.data.session.kind !== 'review' || event.data.attempt === 1)
          return;
        const asked =
          before.review?.attempts.filter(
            (attempt) => attempt.state === 'ended' && attempt.failure?.reason !== 'after_thaw',
          ).length ?? 0;
        expect(asked).toBeLessThan(2);
        expect(before.review?.nomination).toBeNull();
        const began = before.explorationEndedAt ?? 0;
        const thawed = before.review?.attempts.at(-1);
        if (thawed?.state === 'ended' && thawed.failure?.reason === 'after_thaw') return;
        const { totalMs, reviewMs, until } = before.budgets;
        const end = Math.min(began + reviewMs, totalMs, until === null ? Infinity : event.active + until - event.wall);
        expect((end - event.active) * 3).toBeGreaterThanOrEqual(end - began);
      }),
    );
    expect(traces.filter(({ state }) => (state.review?.attempts.length ?? 0) > 1).length).toBeGreaterThan(10);
    // … and never given up while it could still be asked
    hold(({ events, state }) => {
      const ending = ofType(events, 'review.ending')[0];
      if (
        !ending ||
        ending.data.reason === 'deadline' ||
        ending.data.reason === 'stopped' ||
        state.budgets.until !== null
      )
        return;
      const attempts = ofType(events, 'attempt.starting').filter(({ data }) => data.session.kind === 'review').length;
      const window = Math.min(state.budgets.reviewMs, state.budgets.totalMs - (state.explorationEndedAt ?? 0));
      const left = window - (ending.active - (state.explorationEndedAt ?? 0));
      const nominated = ofType(events, 'ballot.cast').some(({ seq, data }) => data.valid && seq < ending.seq);
      if (attempts === 1 && !nominated && ofType(events, 'budget.changed').length === 0)
        expect(left * 3).toBeLessThan(window);
    });
  });

  it('no attempt of a reviewer waits', () => {
    hold(({ events }) => {
      for (const { data } of ofType(events, 'attempt.ended'))
        if (data.session.kind === 'review') expect(data.retryAt).toBeNull();
    });
  });
});

describe('the selection', () => {
  it('invariant 7: it exists once a candidate exists, and every change of it is an event with who and why', () => {
    hold((trace) =>
      walk(trace, (event, before, after) => {
        const now = finalCandidate({ ...after, ...after.terms });
        if ((now === undefined) !== (after.archive.length === 0)) expect(now).toBe('there once a candidate is');
        if (now && !after.archive.some(({ id }) => id === now.candidate)) expect(now).toBeNull();
        const was = finalCandidate({ ...before, ...before.terms });
        if (now?.candidate !== was?.candidate)
          expect(['experiment.accepted', 'candidate.selected', 'selection.cleared']).toContain(event.type);
        if (event.type !== 'candidate.selected' && event.type !== 'selection.cleared') {
          if (after.selections !== before.selections) expect(after.selections).toStrictEqual(before.selections);
          return;
        }
        expect(after.selections.slice(0, -1)).toStrictEqual(before.selections);
        expect(event.data.who.length * event.data.reason.length).toBeGreaterThan(0);
      }),
    );
  });

  it('a person’s word is a pin: it holds through the review until it is cleared, and the review is recorded beside it', () => {
    hold((trace) => {
      let pinned: string | null = null;
      walk(trace, (event: RunEvent, _, after) => {
        if (event.type === 'candidate.selected' && event.data.by === 'person') pinned = event.data.candidate;
        if (event.type === 'selection.cleared') pinned = null;
        if (pinned !== null) expect(finalCandidate({ ...after, ...after.terms })?.candidate).toBe(pinned);
      });
      const own = ofType(trace.events, 'candidate.selected').filter(({ data }) => data.by !== 'person');
      expect(own).toHaveLength(trace.state.archive.length > 0 ? 1 : 0);
    });
    expect(
      traces.filter(
        ({ state }) =>
          state.selections.some(({ by }) => by === 'person') && state.selections.some(({ by }) => by === 'reviewer'),
      ).length,
    ).toBeGreaterThan(0);
  });

  it('the run’s own selection is the last valid nomination, else the fallback: the record only where scores are visible', () => {
    hold(({ events, state }) => {
      const own = ofType(events, 'candidate.selected').find(({ data }) => data.by !== 'person');
      if (!own) return;
      const nomination = ofType(events, 'ballot.cast').findLast(({ data }) => data.valid);
      const { fallback, feedback, metric } = state.terms;
      const best = state.archive
        .map(({ score }) => score)
        .reduce((a, b) => (metric.direction === 'maximize' ? Math.max(a, b) : Math.min(a, b)));
      const record = state.archive.find(({ score }) => score === best);
      const expected = fallback === 'record' && feedback === 'score' ? record : state.archive.at(-1);
      const { candidate, by, reason } = own.data;
      if (nomination?.data.valid)
        expect({ candidate, by, reason }).toStrictEqual({
          candidate: nomination.data.candidate,
          by: 'reviewer',
          reason: nomination.data.reason,
        });
      else expect({ candidate, by }).toStrictEqual({ candidate: expected?.id, by: 'fallback' });
    });
  });
});
