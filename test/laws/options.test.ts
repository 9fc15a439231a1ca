import { describe, expect, it } from 'vitest';

import type { Failure } from '../../src/agents/port.ts';
import type { Option } from '../../src/options/model.ts';
import type { RunState } from '../../src/run/model.ts';
import { explorationEndsAt } from '../../src/run/schedule.ts';
import { counts, ofType, simulated, walk } from './traces.ts';

const { traces, hold } = simulated(3);

const cap = ({ terms }: RunState): number =>
  terms.policy.mode === 'single' ? Infinity : (terms.policy.cap ?? Infinity);
const idleAtOnce = (option: Option): boolean =>
  option.endedItself && option.submissions === 0 && (option.closedAt ?? Infinity) - option.openedAt < 10_000;
const failedIdle = (option: Option): boolean =>
  (option.closure === 'failed' || option.closure === 'stalled') && option.accepted.length === 0;

describe('options', () => {
  it('invariant 11: consecutive options have different agents, from the first one named; a single agent is always the same', () => {
    hold(({ state: { options, terms } }) => {
      expect(options.map(({ number }) => number)).toStrictEqual(options.map((_, index) => index + 1));
      const other = terms.policy.first === 'A' ? 'B' : 'A';
      const turn = (index: number): string =>
        terms.policy.mode === 'single' || index % 2 === 0 ? terms.policy.first : other;
      expect(options.map(({ agent }) => agent)).toStrictEqual(options.map((_, index) => turn(index)));
    });
    expect(traces.filter(({ state }) => state.options.length > 2).length).toBeGreaterThan(150);
  });

  it('invariant 3: the next session starts after the one before is reaped, settled, clean and closed', () => {
    hold((trace) =>
      walk(trace, (event, before) => {
        if (event.type === 'option.opened' || event.type === 'review.opened') {
          const unready = before.options.filter(
            (o) =>
              o.state !== 'closed' ||
              o.reapedAt === null ||
              o.settledAt === null ||
              o.cleanAt === null ||
              o.survivors.length > 0,
          );
          if (unready.length > 0) expect(unready).toStrictEqual([]);
        }
        if (event.type === 'attempt.starting') {
          const session = event.data.session.kind === 'review' ? before.review : before.options.at(-1);
          const living = [...(session?.attempts ?? []), ...before.options.flatMap(({ attempts }) => attempts)].filter(
            ({ state }) => state !== 'ended',
          );
          if (living.length > 0 || session?.state !== 'open')
            expect({ living, state: session?.state }).toStrictEqual({ living: [], state: 'open' });
        }
      }),
    );
    expect(
      traces.flatMap(({ events }) => ofType(events, 'option.reaped').filter(({ data }) => data.survivors.length > 0))
        .length,
    ).toBeGreaterThan(20);
  });

  it('invariant 4: each attempt has its own number and nonce; the option keeps its token', () => {
    hold(({ events, state }) => {
      const nonces = ofType(events, 'attempt.starting').map(({ data }) => data.nonce);
      expect(new Set(nonces).size).toBe(nonces.length);
      for (const { attempts } of state.options)
        expect(attempts.map(({ number }) => number)).toStrictEqual(attempts.map((_, index) => index + 1));
    });
  });

  it('accepted = k is always `cap`, and nothing else is', () => {
    hold(({ state }) => {
      const wrong = state.options.filter(
        (option) => (option.closure === 'cap') !== option.accepted.length >= cap(state),
      );
      expect(wrong).toStrictEqual([]);
    });
    const closures = counts(traces.flatMap(({ state }) => state.options.map(({ closure }) => String(closure))));
    for (const closure of ['natural', 'cap', 'deadline', 'budget', 'handoff', 'stopped', 'failed', 'stalled'])
      expect(closures, closure).toHaveProperty(closure);
  });

  it('an end is the agent’s own only where nobody ended it', () => {
    hold(({ state }) => {
      for (const option of state.options) {
        const last = option.attempts.at(-1);
        expect(option.endedItself).toBe(last?.state === 'ended' && last.endedItself);
        if (option.closure === 'natural')
          expect({ own: option.endedItself, failure: last?.state === 'ended' && last.failure }).toStrictEqual({
            own: true,
            failure: null,
          });
        if (option.closure === 'failed' || option.closure === 'stalled')
          expect(last?.state === 'ended' && last.failure?.reason === 'stall').toBe(option.closure === 'stalled');
      }
    });
  });

  it('a failed attempt is tried again after doubling waits and a limit’s reset, as often as the policy says; then the option ends or the run pauses', () => {
    hold((trace) =>
      walk(trace, (event, before, after) => {
        const { failures, policy } = before.terms;
        if (event.type !== 'attempt.ended' || event.data.session.kind !== 'option' || event.data.failure === null)
          return;
        const option = before.options[event.data.session.number - 1];
        const { failure, retryAt, counts: counted } = event.data;
        if (!option || option.state !== 'open' || option.accepted.length >= cap(before))
          return expect(retryAt).toBeNull();
        if (failure.reason === 'after_thaw')
          return expect({ counted, retryAt }).toStrictEqual({ counted: false, retryAt: event.active });
        expect(counted).toBe(true);
        const reset = failure.resetAt === undefined ? 0 : Math.max(0, failure.resetAt - event.wall);
        const waits = ['usage_limit', 'overloaded'].includes(failure.reason) ? 1000 : 0;
        const wait = Math.max(waits, Math.min(900_000, failures.waitMs * 2 ** option.failures));
        const due = event.active + (failure.reason === 'context_overflow' ? 0 : Math.max(wait, reset));
        const last = option.failures + 1 >= failures.attempts;
        if (failure.reason === 'usage_limit') expect(retryAt === null || (!last && retryAt === due)).toBe(true);
        else if (failure.reason === 'login_expired') expect(retryAt).toBeNull();
        else expect(retryAt).toBe(last ? null : due);
        if (
          retryAt !== null ||
          after.pause ||
          after.explorationEnding ||
          before.archive.length >= (before.budgets.experiments ?? Infinity)
        )
          return;
        if (option.accepted.length >= cap(after)) return;
        const next = trace.events
          .slice(event.seq)
          .find(({ type }) =>
            ['option.ending', 'run.paused', 'exploration.ending', 'run.stopping', 'budget.changed'].includes(type),
          );
        if (next?.type === 'run.paused')
          expect(next.data).toMatchObject({
            reason:
              failure.reason === 'usage_limit'
                ? expect.stringMatching(/^(?:usage_limit|agent_failed|requested)$/u)
                : failure.reason === 'login_expired'
                  ? expect.stringMatching(/^(?:agent_failed|requested)$/u)
                  : failures.then === 'pause' || policy.mode === 'single'
                    ? 'agent_failed'
                    : 'requested',
          });
        else if (next?.type === 'option.ending' && (next.data as { reason: string }).reason !== 'handoff') {
          expect(policy.mode === 'alternate').toBe(true);
          expect(failures.then === 'handover' || (failure.reason === 'usage_limit' && !last)).toBe(true);
          expect(next.data).toMatchObject({ reason: failure.reason === 'stall' ? 'stalled' : 'failed' });
        }
      }),
    );
    const reasons = counts(
      traces.flatMap(({ events }) => ofType(events, 'attempt.ended').map(({ data }) => String(data.failure?.reason))),
    );
    for (const reason of [
      'crash',
      'usage_limit',
      'out_of_memory',
      'not_started',
      'runner_lost',
      'stall',
      'after_thaw',
      'login_expired',
      'overloaded',
      'context_overflow',
    ])
      expect(reasons, reason).toHaveProperty(reason);
  });

  it('no attempt starts before its time, while paused, or more often than the policy and persons allow', () => {
    hold((trace) =>
      walk(trace, (event, before) => {
        if (event.type === 'attempt.starting' && event.data.session.kind === 'option') {
          const option = before.options.at(-1);
          expect(before.pause).toBeNull();
          expect(event.active).toBeGreaterThanOrEqual(option?.retryAt ?? 0);
          if (before.terms.policy.mode === 'alternate')
            expect(option?.attempts.length === 0 || option?.retryAt !== null).toBe(true);
          expect(option?.failures).toBeLessThan(before.terms.failures.attempts);
        }
        if (event.type === 'evaluation.starting' || event.type === 'option.opened') expect(before.pause).toBeNull();
      }),
    );
  });

  it('a usage limit is never waited for beyond the end of exploration, nor asked again before its reset, and where all are out the run pauses until the earliest', () => {
    const seen = { waited: 0, paused: 0, resumed: 0, handedOver: 0, allOut: 0 };
    const outOf = (state: RunState, slot: 'A' | 'B'): { failure: Failure; option: Option } | null => {
      const option = state.options.findLast(({ agent, attempts }) => agent === slot && attempts.length > 0);
      const last = option?.attempts.at(-1);
      const failure = last?.state === 'ended' ? last.failure : null;
      return option && failure?.reason === 'usage_limit' ? { failure, option } : null;
    };
    hold((trace) =>
      walk(trace, (event, before) => {
        const given = { wall: event.wall, mono: event.mono, active: event.active, boot: '' };
        const single = before.terms.policy.mode === 'single';
        if (
          event.type === 'attempt.ended' &&
          event.data.failure?.reason === 'usage_limit' &&
          event.data.retryAt !== null
        ) {
          if (!single) expect(event.data.retryAt).toBeLessThan(explorationEndsAt(before, given));
          expect(before.terms.failures.usageLimit?.then).not.toBe('pause');
          seen.waited++;
        }
        if (event.type === 'run.paused' && event.data.reason === 'usage_limit') seen.paused++;
        if (event.type === 'run.resumed' && event.data.by === 'hma' && before.pause?.reason === 'usage_limit') {
          expect(event.wall).toBeGreaterThanOrEqual(before.pause.until ?? Infinity);
          seen.resumed++;
        }
        if (event.type === 'option.ending' && event.data.reason === 'failed') {
          const out = outOf(before, before.options.at(-1)?.agent ?? 'A');
          if (out?.option.number === event.data.option) seen.handedOver++;
        }
        if (event.type === 'attempt.starting' && event.data.session.kind === 'option') {
          const option = before.options.at(-1);
          const out = option && outOf(before, option.agent);
          const since = out?.option.attempts.at(-1);
          const resumed = (before.resumedAt ?? -1) >= (since?.state === 'ended' ? since.endedAt : 0);
          // by the clock that the wait is measured with: the wall may have been set since
          if (out && out.option.number === option.number && !resumed)
            expect(event.active).toBeGreaterThanOrEqual(option.retryAt ?? 0);
        }
        if (event.type === 'option.opened' && before.options.length > 0) {
          const resets = (single ? [before.terms.policy.first] : (['A', 'B'] as const)).map(
            (slot) => outOf(before, slot)?.failure.resetAt ?? 0,
          );
          const resumed = (before.resumedAt ?? -1) >= (before.options.at(-1)?.closedAt ?? 0);
          if (!resumed) expect(Math.min(...resets)).toBeLessThanOrEqual(event.wall);
          else if (Math.max(...resets) > event.wall) seen.allOut++;
        }
      }),
    );
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0);
  });

  it('options that do nothing are slowed down, then the run pauses: never a hot loop', () => {
    hold((trace) =>
      walk(trace, (event, before) => {
        if (event.type !== 'option.opened') return;
        const idle =
          before.options.length -
          1 -
          before.options.findLastIndex((option) => !idleAtOnce(option) && !failedIdle(option));
        const atOnce = before.options.length - 1 - before.options.findLastIndex((option) => !idleAtOnce(option));
        const closedAt = before.options.at(-1)?.closedAt ?? 0;
        if (before.resumedAt !== null && before.resumedAt >= closedAt) return;
        if (idle >= 2)
          expect(event.active).toBeGreaterThanOrEqual(
            closedAt + Math.min(900_000, Math.max(1000, before.terms.failures.waitMs) * 2 ** (idle - 2)),
          );
        expect(atOnce).toBeLessThan(4);
      }),
    );
    expect(
      traces.filter(({ events }) =>
        ofType(events, 'run.paused').some(({ data }) => data.reason === 'agents_end_at_once'),
      ).length,
    ).toBeGreaterThan(2);
  });

  it('a single agent is asked again when it ends itself, and never in a hot loop', () => {
    let asked = 0;
    hold((trace) =>
      walk(trace, (event, before) => {
        if (before.terms.policy.mode !== 'single' || event.type !== 'attempt.ended' || event.data.failure !== null)
          return;
        const option = before.options.at(-1);
        if (option?.state !== 'open' || !option) return expect(event.data.retryAt).toBeNull();
        const quick = event.active - (option.attempts.at(-1)?.startingAt ?? 0) < 10_000;
        expect(event.data.retryAt).toBeGreaterThanOrEqual(event.active + (quick ? 1000 : 0));
        asked++;
      }),
    );
    expect(asked).toBeGreaterThan(50);
  });

  it('`stopAfterBarren` brings the review forward after just so many options without a candidate', () => {
    hold((trace) =>
      walk(trace, (event, before) => {
        const { stopAfterBarren } = before.terms;
        const barren = before.options.length - 1 - before.options.findLastIndex(({ accepted }) => accepted.length > 0);
        if (event.type === 'option.opened' && stopAfterBarren !== null) expect(barren).toBeLessThan(stopAfterBarren);
        if (event.type === 'exploration.ending' && event.data.reason === 'barren') expect(barren).toBe(stopAfterBarren);
      }),
    );
    expect(
      traces.filter(({ events }) => ofType(events, 'exploration.ended').some(({ data }) => data.reason === 'barren'))
        .length,
    ).toBeGreaterThan(5);
  });

  it('a pause wished for the next boundary comes before the next session opens, whatever else paused meanwhile', () => {
    hold((trace) =>
      walk(trace, (event, before) => {
        if (event.type === 'option.opened' || event.type === 'review.opened') expect(before.pauseAfter).toBe(false);
      }),
    );
    expect(
      traces.filter(({ events }) => ofType(events, 'run.pauseAfter').some(({ data }) => data.wanted)).length,
    ).toBeGreaterThan(10);
  });
});
