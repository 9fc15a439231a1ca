import { describe, expect, it } from 'vitest';

import type { Failure } from '../../src/agents/port.ts';
import { decideAttemptEnd, nextStart } from '../../src/options/decide.ts';
import { latestAttempt } from '../../src/options/evolve.ts';
import type { RunState, Terms } from '../../src/run/model.ts';
import { nextStep, type Step } from '../../src/run/next.ts';
import type { RunFact } from '../../src/run/events.ts';
import type { FailurePolicy } from '../../src/task/model.ts';
import { afterOn, at, opened, started, starting } from '../laws/aState.ts';

type Moment = Parameters<typeof afterOn>[1];
const hour = 3_600_000;
/** Long enough that a limit's hours fit. */
const budgets = { totalMs: 10 * hour, reviewMs: hour, experiments: null, until: null };
const policy = (usageLimit: FailurePolicy['usageLimit'], over: Partial<FailurePolicy> = {}): FailurePolicy => ({
  attempts: 3,
  waitMs: 30_000,
  then: 'handover',
  ...(usageLimit ? { usageLimit } : {}),
  ...over,
});
const limit = (resetActive: number | null): Failure => ({
  reason: 'usage_limit',
  detail: 'resets later',
  ...(resetActive === null ? {} : { resetAt: at(resetActive).wall }),
});

/** A run whose open option's attempt has failed at a moment; `before` are moments of earlier options. */
function failed(
  terms: Partial<Terms>,
  failure: Failure,
  more: { active?: number; before?: Moment[]; option?: number } = {},
): RunState {
  const { active = 5_000, before = [], option = 1 } = more;
  const start: Moment = [active - 1_000, opened(option), starting(option), started(option)];
  const state = afterOn({ terms, budgets }, ...before, start);
  return afterOn({ terms, budgets }, ...before, start, [active, endOf(state, failure, active)]);
}
function endOf(state: RunState, failure: Failure, active: number): RunFact {
  const option = state.options.at(-1);
  const attempt = option && latestAttempt(option);
  if (!option || !attempt) throw new Error('no attempt runs');
  const session = { kind: 'option', number: option.number } as const;
  return decideAttemptEnd(state, { session, attempt, option, exit: null, endedItself: true, failure }, at(active));
}
/** What the run does next, in a word. */
function next(state: RunState, active = 5_000): string {
  const step: Step = nextStep(state, at(active), { lingerMs: 0 });
  if (step.do === 'wait') return `wait until ${step.wakeAt}`;
  if (step.do === 'endOption') return `end: ${step.reason}`;
  if (step.do !== 'record') return step.do;
  const [fact] = step.facts;
  if (fact?.type !== 'run.paused') return String(fact?.type);
  const { until } = fact.data;
  return `pause: ${fact.data.reason}${until === undefined ? '' : ` until ${until - at(0).wall}`}`;
}

describe('a usage limit', () => {
  it.each([
    ['is waited for, the clock running', undefined, 2 * hour, `wait until ${2 * hour}`],
    ['without a told reset: the growing wait', undefined, null, 'wait until 35000'],
    [
      'with the clock paused, if wanted',
      { then: 'wait', pauseClock: true },
      2 * hour,
      `pause: usage_limit until ${2 * hour}`,
    ],
    ['a reset nearer than the wait stops no clock', { then: 'wait', pauseClock: true }, 6_000, 'wait until 35000'],
    ['that resets after exploration’s end is not waited for', undefined, 9 * hour, 'end: failed'],
    ['hands over at once, if wanted', { then: 'handover', pauseClock: false }, 2 * hour, 'end: failed'],
    ['pauses until a person resumes, if wanted', { then: 'pause', pauseClock: false }, 2 * hour, 'pause: usage_limit'],
  ] as const)('%s', (_, usageLimit, reset, expected) => {
    expect(next(failed({ failures: policy(usageLimit) }, limit(reset)))).toBe(expected);
  });

  it('of a single agent is waited for; one beyond the end pauses the clock until then', () => {
    const terms = {
      failures: policy(undefined),
      policy: { mode: 'single', cap: null, first: 'A', tellCap: false },
    } as const;
    expect(next(failed(terms, limit(2 * hour)))).toBe(`wait until ${2 * hour}`);
    expect(next(failed(terms, limit(11 * hour)))).toBe(`pause: usage_limit until ${11 * hour}`);
  });

  it('costs no attempt when the session worked before it', () => {
    const state = afterOn({ terms: { failures: policy(undefined) }, budgets }, [0, opened(1), starting(1), started(1)]);
    const counts = (active: number): unknown => endOf(state, limit(2 * hour), active).data;
    expect([599_999, 600_000].map(counts)).toMatchObject([{ counts: true }, { counts: false, retryAt: 2 * hour }]);
  });
});

/** Option 1 (A) failed with a limit and closed; option 2 (B) is next. */
const firstOut = (reset: number): Moment[] => {
  const state = afterOn({ budgets }, [1_000, opened(1), starting(1), started(1)]);
  return [
    [1_000, opened(1), starting(1), started(1)],
    [2_000, endOf(state, limit(reset), 2_000)],
    [2_000, { type: 'option.ending', data: { option: 1, reason: 'failed', descendants: [] } }],
    [2_000, { type: 'option.reaped', data: { option: 1, ended: [], survivors: [], ms: 1 } }],
    [
      2_000,
      { type: 'option.settled', data: { option: 1 } },
      { type: 'option.clean', data: { option: 1, restored: [] } },
    ],
    [
      2_000,
      { type: 'option.closed', data: { option: 1, closure: 'failed', endedItself: true, workspaceSnapshot: null } },
    ],
  ];
};
const close = (option: number, active: number): Moment[] => [
  [active, { type: 'option.ending', data: { option, reason: 'failed', descendants: [] } }],
  [active, { type: 'option.reaped', data: { option, ended: [], survivors: [], ms: 1 } }],
  [active, { type: 'option.settled', data: { option } }, { type: 'option.clean', data: { option, restored: [] } }],
  [active, { type: 'option.closed', data: { option, closure: 'failed', endedItself: true, workspaceSnapshot: null } }],
];

describe('both agents out', () => {
  const terms = { failures: policy({ then: 'handover', pauseClock: false }) };
  it('pauses until the earliest reset: in the option whose agent is back first, or after it', () => {
    const back = (reset: number): string =>
      next(failed(terms, limit(reset), { active: 5_000, option: 2, before: firstOut(3 * hour) }));
    expect(back(2 * hour)).toBe(`pause: usage_limit until ${2 * hour}`);
    expect(back(4 * hour)).toBe('end: failed');
    const closed = afterOn(
      { terms, budgets },
      ...firstOut(3 * hour),
      [4_000, opened(2), starting(2), started(2)],
      [
        5_000,
        {
          type: 'attempt.ended',
          data: {
            session: { kind: 'option', number: 2 },
            attempt: 1,
            exit: null,
            endedItself: true,
            failure: limit(4 * hour),
            retryAt: null,
            counts: true,
          },
        },
      ],
      ...close(2, 5_000),
    );
    expect(nextStart(closed, at(5_000))).toStrictEqual({
      kind: 'pause',
      reason: 'usage_limit',
      detail: 'the usage limit of every agent of the run is reached',
      until: at(3 * hour).wall,
    });
    expect(nextStart(closed, at(3 * hour)).kind).toBe('at');
  });

  it('the run goes on by itself at that time, not before, and the clock stood', () => {
    const state = failed(terms, limit(2 * hour), { active: 5_000, option: 2, before: firstOut(3 * hour) });
    const pause = nextStep(state, at(5_000), { lingerMs: 0 });
    if (pause.do !== 'record') throw new Error('it does not pause');
    const moments: Moment[] = [...firstOut(3 * hour), [4_000, opened(2), starting(2), started(2)]];
    const end = endOf(afterOn({ terms, budgets }, ...moments), limit(2 * hour), 5_000);
    const paused = afterOn({ terms, budgets }, ...moments, [5_000, end], [5_000, ...pause.facts]);
    const look = (wall: number): Step => nextStep(paused, { ...at(5_000), wall }, { lingerMs: 0 });
    expect(look(at(2 * hour).wall - 1)).toMatchObject({ do: 'wait' });
    expect(look(at(2 * hour).wall)).toStrictEqual({
      do: 'record',
      facts: [{ type: 'run.resumed', data: { by: 'hma' } }],
    });
    const resumed = afterOn(
      { terms, budgets },
      ...moments,
      [5_000, end],
      [5_000, ...pause.facts],
      [5_000, { type: 'run.resumed', data: { by: 'hma' } }],
    );
    expect(resumed.options[1]).toMatchObject({ failures: 1, retryAt: 5_000 });
    expect(next(resumed)).toBe('startAttempt');
  });
});

describe('other reasons', () => {
  const failure = (reason: Failure['reason'], more: Partial<Failure> = {}): Failure => ({
    reason,
    detail: 'so it said',
    ...more,
  });
  it('a session whose context overflowed begins again at once, as often as the policy says', () => {
    const terms = { failures: policy(undefined, { attempts: 2 }) };
    expect(next(failed(terms, failure('context_overflow')))).toBe('startAttempt');
    expect(next(failed({ failures: policy(undefined, { attempts: 1 }) }, failure('context_overflow')))).toBe(
      'end: failed',
    );
  });

  it('an overloaded provider and a network that is down are waited for, a told Retry-After at least, with `wait: 0` too', () => {
    const terms = { failures: policy(undefined, { waitMs: 0 }) };
    expect(next(failed(terms, failure('overloaded')))).toBe('wait until 6000');
    expect(next(failed(terms, failure('network', { resetAt: at(65_000).wall })))).toBe('wait until 65000');
  });

  it('an expired login goes on with the other agent; where that one can’t sign in either, a person is asked', () => {
    const terms = { failures: policy(undefined) };
    expect(next(failed(terms, failure('login_expired')))).toBe('end: failed');
    const before: Moment[] = [
      [1_000, opened(1), starting(1), started(1)],
      [
        2_000,
        {
          type: 'attempt.ended',
          data: {
            session: { kind: 'option', number: 1 },
            attempt: 1,
            exit: null,
            endedItself: true,
            failure: failure('login_expired'),
            retryAt: null,
            counts: true,
          },
        },
      ],
      ...close(1, 2_000),
    ];
    const both = failed(terms, failure('model_not_found'), { active: 5_000, option: 2, before });
    const step = nextStep(both, at(5_000), { lingerMs: 0 });
    expect(step).toMatchObject({ do: 'record', facts: [{ type: 'run.paused', data: { reason: 'agent_failed' } }] });
    const pausing = failed({ failures: policy(undefined, { then: 'pause' }) }, failure('login_expired'));
    expect(nextStep(pausing, at(5_000), { lingerMs: 0 })).toStrictEqual({
      do: 'record',
      facts: [
        {
          type: 'run.paused',
          data: {
            reason: 'agent_failed',
            detail: 'ada: login expired (so it said); sign in again with hma login demo, or renew the key',
            by: 'hma',
          },
        },
      ],
    });
  });
});
