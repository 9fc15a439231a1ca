import { describe, expect, it } from 'vitest';

import { isUndecided } from '../../src/experiments/model.ts';
import type { RunEvent } from '../../src/run/events.ts';
import type { RunState } from '../../src/run/model.ts';
import { counts, ofType, simulated, walk } from './traces.ts';

const { traces, hold } = simulated(2);

const cap = ({ terms }: RunState): number =>
  terms.policy.mode === 'single' ? Infinity : (terms.policy.cap ?? Infinity);

/** t_s = t_total − t_rev and the grace, worked out anew from the words of domain.md. */
function lastVerdict(state: RunState, event: RunEvent): number {
  const { totalMs, reviewMs, until } = state.budgets;
  const reserve = state.terms.policy.mode === 'single' ? 0 : reviewMs;
  const end = until === null ? totalMs : Math.min(totalMs, event.active + until - event.wall);
  const { lateRule } = state.terms;
  return end - reserve + (lateRule.rule === 'submitted' ? Math.min(lateRule.graceMs, reserve / 2) : 0);
}

const decides = (
  event: RunEvent,
): event is Extract<RunEvent, { type: 'experiment.accepted' | 'experiment.rejected' }> =>
  event.type === 'experiment.accepted' || event.type === 'experiment.rejected';

describe('the gate', () => {
  it('invariant 2: at most k accepted in an option, at most N in a run, none whose verdict is stamped at t_s or later', () => {
    hold((trace) =>
      walk(trace, (event, before) => {
        if (event.type !== 'experiment.accepted') return;
        expect(before.options[event.data.option - 1]?.accepted.length).toBeLessThan(cap(before));
        expect(before.archive.length).toBeLessThan(before.budgets.experiments ?? Infinity);
        expect(event.data.verdictAt).toBeLessThan(lastVerdict(before, event));
        expect(event.data.verdictAt).toBeLessThanOrEqual(event.active);
      }),
    );
    const full = traces.flatMap(({ state }) =>
      state.options.map((option) => String(option.accepted.length === cap(state))),
    );
    expect(counts(full)['true']).toBeGreaterThan(300);
    expect(traces.filter(({ state }) => state.archive.length === state.budgets.experiments).length).toBeGreaterThan(40);
  });

  it('invariant 2: a deadline that was met stays met, whatever the wall clock does', () => {
    hold(({ events, state }) => {
      const met = ofType(events, 'exploration.ending').find(({ data }) => data.reason === 'deadline');
      if (!met) return;
      const { lateRule, policy } = state.terms;
      const grace =
        lateRule.rule === 'submitted' && policy.mode === 'alternate'
          ? Math.min(lateRule.graceMs, state.budgets.reviewMs / 2)
          : 0;
      for (const { data } of ofType(events, 'experiment.accepted'))
        expect(data.verdictAt).toBeLessThan(met.active + grace + 1e-9);
      for (const { active, data } of ofType(events, 'experiment.submitted')) {
        const fate = state.experiments.find(({ id }) => id === data.id);
        if (active > met.active) expect(fate?.state).toBe('rejected');
      }
    });
  });

  it('`late` is said exactly where no verdict was stamped in time', () => {
    hold((trace) =>
      walk(trace, (event, before) => {
        if (event.type !== 'experiment.rejected' || event.data.code !== 'late') return;
        const one = before.experiments.find(({ id }) => id === event.data.id);
        const last = one?.evaluations.at(-1);
        const end =
          before.explorationEnding === 'deadline'
            ? Math.min(lastVerdict(before, event), (before.explorationEndingAt ?? 0) + graceOf(before))
            : lastVerdict(before, event);
        if (last?.verdict?.kind === 'scored' && before.terms.evaluate.repeats === 1)
          expect(last.endedAt).toBeGreaterThanOrEqual(end);
        else
          expect(event.active).toBeGreaterThanOrEqual(
            Math.min(end, one?.captured === null ? end - graceOf(before) : end),
          );
      }),
    );
    expect(
      traces.flatMap(({ events }) => ofType(events, 'experiment.rejected').filter(({ data }) => data.code === 'late'))
        .length,
    ).toBeGreaterThan(20);
  });

  it('only acceptance counts: a rejection or a refusal moves no cap, no budget, no candidate', () => {
    hold((trace) =>
      walk(trace, (event, before, after) => {
        if (event.type === 'experiment.accepted' || event.type === 'candidate.graded') return;
        if (after.archive !== before.archive) expect(after.archive).toStrictEqual(before.archive);
        const moved = before.options.filter((option) => after.options[option.number - 1]?.accepted !== option.accepted);
        if (moved.length > 0) expect(moved).toStrictEqual([]);
      }),
    );
  });

  it('a candidate was scored: the incorrect, invalid, lost and infinite never stand', () => {
    hold(({ state }) => {
      for (const { id, score } of state.archive) {
        const one = state.experiments.find((e) => e.id === id);
        const runs = one?.evaluations.filter(({ kind }) => kind === 'evaluate') ?? [];
        expect(runs.at(-1)?.verdict?.kind).toBe('scored');
        const scores = runs
          .flatMap(({ verdict }) => (verdict?.kind === 'scored' ? [verdict.score] : []))
          .toSorted((a, b) => a - b);
        expect(scores).toHaveLength(state.terms.evaluate.repeats);
        expect(score).toBe(scores.length === 1 ? scores[0] : ((scores[0] ?? 0) + (scores[1] ?? 0)) / 2);
        expect(runs.every(({ verdict }) => verdict?.kind === 'scored' || verdict?.kind === 'lost')).toBe(true);
      }
    });
  });

  it('the same files are never two candidates', () => {
    hold(({ state }) =>
      expect(new Set(state.archive.map(({ contentHash }) => contentHash)).size).toBe(state.archive.length),
    );
  });

  it('a score outside the possible range is flagged, one inside is not', () => {
    hold(({ state }) => {
      for (const { score, flags } of state.archive)
        expect(flags).toStrictEqual(score < 0 || score > 100 ? ['out_of_range'] : []);
    });
  });

  it('settling: submissions are decided in their order, and all of an option before it is settled and closed', () => {
    hold((trace) =>
      walk(trace, (event, before) => {
        if (decides(event)) {
          const first = before.experiments.find(isUndecided);
          const atOnce = before.seq === event.seq - 1 && before.experiments.at(-1)?.id === event.data.id;
          if (!atOnce) expect(first?.id).toBe(event.data.id);
        }
        if (event.type === 'option.settled' || event.type === 'option.closed')
          expect(before.experiments.filter(isUndecided)).toStrictEqual([]);
      }),
    );
  });

  it('an option that is ending takes no more: what is submitted then is rejected at once, and its author is the option (invariant 5)', () => {
    hold((trace) => {
      walk(trace, (event, before) => {
        if (event.type !== 'experiment.submitted') return;
        const option = before.options[event.data.option - 1];
        expect(event.data.agent).toBe(option?.agent);
        if (option?.state === 'open' && !before.explorationEnding && !before.pause) return;
        const next = trace.events[event.seq];
        expect({ type: next?.type, data: next?.data }).toMatchObject({
          type: 'experiment.rejected',
          data: { id: event.data.id },
        });
      });
    });
  });

  it('at the k-th acceptance the rest are `cap_reached`, unrun; at a stop `cancelled`', () => {
    hold((trace) =>
      walk(trace, (event, before) => {
        if (event.type === 'evaluation.starting') {
          const option = before.options.at(-1);
          expect(option?.accepted.length).toBeLessThan(cap(before));
          expect(before.explorationEnding).not.toBe('stopped');
          expect(before.archive.length).toBeLessThan(before.budgets.experiments ?? Infinity);
          expect(event.active).toBeLessThan(lastVerdict(before, event));
        }
        if (before.explorationEnding === 'stopped' && decides(event))
          expect(
            'code' in event.data &&
              [
                'cancelled',
                'invalid',
                'incorrect',
                'non_finite',
                'timeout',
                'unstable',
                'too_large',
                'duplicate',
                'tampered',
                'not_your_turn',
                'evaluator_error',
              ].includes(event.data.code),
          ).toBe(true);
        if (event.type === 'experiment.rejected' && event.data.code === 'cancelled')
          expect(before.explorationEnding).toBe('stopped');
        if (event.type === 'experiment.rejected' && event.data.code === 'cap_reached')
          expect(before.options[event.data.option - 1]?.accepted.length).toBe(cap(before));
      }),
    );
  });

  it('a session is interrupted when it has seen the receipt that filled it, and at the latest 20 s after the commit', () => {
    hold((trace) => {
      if (trace.scenario.deaths.length > 0) return;
      walk(trace, (event, before) => {
        if (event.type !== 'option.ending' || (event.data.reason !== 'cap' && event.data.reason !== 'budget')) return;
        const option = before.options[event.data.option - 1];
        const latest = option?.attempts.at(-1);
        const committed = before.archive.at(-1)?.acceptedAt ?? 0;
        if (!option || latest?.state !== 'running') return;
        const seen = option.capSeenAt ?? Infinity;
        expect(seen).toBeGreaterThanOrEqual(committed);
        const lowered = ofType(trace.events, 'budget.changed').some(({ active }) => active >= committed);
        const due = Math.min(seen + trace.scenario.lingerMs, committed + 20_000);
        if (lowered) expect(event.active).toBeGreaterThanOrEqual(due);
        else expect(Math.abs(event.active - due)).toBeLessThan(2);
      });
    });
  });

  it('every word of the gate is reached', () => {
    const codes = counts(
      traces.flatMap(({ events }) =>
        [...ofType(events, 'experiment.rejected'), ...ofType(events, 'submission.refused')].map(
          ({ data }) => data.code,
        ),
      ),
    );
    for (const code of [
      'invalid',
      'incorrect',
      'duplicate',
      'timeout',
      'non_finite',
      'late',
      'cap_reached',
      'budget_reached',
      'evaluator_error',
      'tampered',
      'unstable',
      'too_large',
      'paused',
      'cancelled',
      'not_your_turn',
    ]) {
      expect(codes, code).toHaveProperty(code);
    }
  });
});

function graceOf({ terms, budgets }: RunState): number {
  return terms.lateRule.rule === 'submitted' && terms.policy.mode === 'alternate'
    ? Math.min(terms.lateRule.graceMs, budgets.reviewMs / 2)
    : 0;
}
