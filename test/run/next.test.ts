import { expect, it } from 'vitest';

import { nextStep } from '../../src/run/next.ts';
import type { RunState } from '../../src/run/model.ts';
import { accepted, after, afterOn, at, opened, started, starting, submitted, turn } from '../laws/aState.ts';

const step = (state: RunState, active: number) => nextStep(state, at(active), { lingerMs: 0 });
const ending = (option: number) =>
  ({ type: 'option.ending', data: { option, reason: 'handoff', descendants: [] } }) as const;
const paused = { type: 'run.paused', data: { reason: 'requested', detail: '', by: 'mina' } } as const;
const session = { kind: 'option', number: 1 } as const;

it('opens with the first agent, and after it the other', () => {
  expect(step(after(), 1)).toStrictEqual({ do: 'openOption', agent: 'A' });
  expect(step(after([1, ...turn(1, { candidates: [1] })]), 2)).toStrictEqual({ do: 'openOption', agent: 'B' });
  expect(
    step(afterOn({ terms: { policy: { mode: 'single', cap: null, first: 'B', tellCap: false } } }), 1),
  ).toStrictEqual({ do: 'openOption', agent: 'B' });
});

it('an option is started, watched until its deadline, reaped, settled, cleaned and closed, in this order', () => {
  const running = [1, opened(1), starting(1), started(1)] as const;
  const reaped = { type: 'option.reaped', data: { option: 1, ended: [], survivors: [], ms: 1 } } as const;
  const settled = { type: 'option.settled', data: { option: 1 } } as const;
  const clean = { type: 'option.clean', data: { option: 1, restored: [] } } as const;
  expect(step(after([1, opened(1)]), 2)).toStrictEqual({ do: 'startAttempt', session });
  expect(step(after(running), 2)).toStrictEqual({ do: 'watchAttempt', session, wakeAt: 540_000 });
  expect(step(after(running, [2, ending(1)]), 2)).toStrictEqual({ do: 'reap', session });
  expect(step(after([1, opened(1), submitted(1, 1), ending(1), reaped]), 2)).toStrictEqual({
    do: 'wait',
    wakeAt: null,
    why: 'settling',
  });
  expect(step(after([1, opened(1), ending(1), reaped]), 2)).toStrictEqual({ do: 'record', facts: [settled] });
  expect(step(after([1, opened(1), ending(1), reaped, settled]), 2)).toStrictEqual({ do: 'clean', option: 1 });
  expect(step(after([1, opened(1), ending(1), reaped, settled, clean]), 2)).toStrictEqual({
    do: 'closeOption',
    option: 1,
  });
});

it('ends exploration at t_s, at N between options, and after enough barren ones', () => {
  const ends = (reason: string) => ({
    do: 'record',
    facts: [{ type: 'exploration.ending', data: { reason, by: 'hma' } }],
  });
  expect(step(after([1, opened(1), starting(1), started(1)]), 540_000)).toStrictEqual(ends('deadline'));
  expect(step(afterOn({ budgets: { experiments: 1 } }, [1, ...turn(1, { candidates: [1] })]), 2)).toStrictEqual(
    ends('budget'),
  );
  const barren = (...turns: Parameters<typeof turn>[1][]) =>
    step(
      afterOn({ terms: { stopAfterBarren: 2 } }, [20_000, ...turns.flatMap((told, index) => turn(index + 1, told))]),
      60_000,
    );
  expect(barren({ candidates: [1] }, {}, {})).toStrictEqual(ends('barren'));
  expect(barren({}, { candidates: [1] }, {})).toStrictEqual({ do: 'openOption', agent: 'B' });
});

it('starts nothing while paused, but ends what is ending', () => {
  expect(step(after([1, paused]), 1)).toStrictEqual({ do: 'wait', wakeAt: null, why: 'paused' });
  expect(step(after([1, opened(1), paused]), 1)).toStrictEqual({ do: 'wait', wakeAt: null, why: 'paused' });
  expect(step(after([1, opened(1), starting(1), started(1), paused]), 1)).toStrictEqual({
    do: 'watchAttempt',
    session,
    wakeAt: null,
  });
  expect(step(after([1, opened(1), starting(1), started(1), paused, ending(1)]), 1)).toStrictEqual({
    do: 'reap',
    session,
  });
});

it('what survives an option waits for a person, and is ended again when the person goes on', () => {
  const stuck = [
    1,
    opened(1),
    starting(1),
    ending(1),
    { type: 'option.reaped', data: { option: 1, ended: [], survivors: [{ pid: 7, command: 'x', ageMs: 1 }], ms: 1 } },
  ] as const;
  expect(step(after(stuck, [2, paused]), 2)).toStrictEqual({
    do: 'wait',
    wakeAt: null,
    why: 'processes survive; a person must end them',
  });
  expect(step(after(stuck, [2, paused, { type: 'run.resumed', data: { by: 'mina' } }]), 2)).toStrictEqual({
    do: 'reap',
    session,
  });
});

it('slowed-down options wait, never beyond the deadline', () => {
  const idle = [20_000, ...turn(1), ...turn(2)] as const;
  expect(step(after(idle), 20_001)).toStrictEqual({
    do: 'wait',
    wakeAt: 25_000,
    why: 'slowed down: sessions end without doing anything',
  });
  expect(step(after(idle), 25_000)).toStrictEqual({ do: 'openOption', agent: 'A' });
});

it('sessions that never do anything pause the run', () => {
  const detail =
    'the last 4 sessions ended within seconds without submitting anything; look at their output (hma log), then resume';
  const idle = [20_000, ...turn(1), ...turn(2), ...turn(3), ...turn(4)] as const;
  expect(step(after(idle), 90_000)).toStrictEqual({
    do: 'record',
    facts: [{ type: 'run.paused', data: { reason: 'agents_end_at_once', detail, by: 'hma' } }],
  });
});

it('another attempt starts at its time and not before', () => {
  const failed = {
    type: 'attempt.ended',
    data: {
      session,
      attempt: 1,
      exit: null,
      endedItself: true,
      failure: { reason: 'crash', detail: '' },
      retryAt: 9_000,
      counts: true,
    },
  } as const;
  const state = after([1, opened(1), starting(1), started(1)], [2, failed]);
  expect([8_999, 9_000].map((active) => step(state, active))).toStrictEqual([
    { do: 'wait', wakeAt: 9_000, why: 'waiting before another attempt' },
    { do: 'startAttempt', session },
  ]);
});

it('grades at the end what may be final, and nothing after a stop', () => {
  const selected = {
    type: 'candidate.selected',
    data: { candidate: 'e1', by: 'fallback', who: 'hma', reason: 'x', gradesRevealed: false },
  } as const;
  const told = [
    1,
    opened(1),
    submitted(1, 1),
    accepted(1, 1, 1),
    submitted(2, 1),
    accepted(2, 1, 9),
    submitted(3, 1),
    accepted(3, 1, 2),
    submitted(4, 1),
    accepted(4, 1, 3),
    { type: 'exploration.ended', data: { reason: 'deadline' } },
    selected,
  ] as const;
  const graded = (id: string) =>
    ({ type: 'candidate.graded', data: { id, nonce: 'n', result: { kind: 'graded', grade: 1 } } }) as const;
  const grades = (...ids: string[]) => step(afterOn({ terms: { grades: true } }, told, [2, ...ids.map(graded)]), 3);
  expect([grades(), grades('e1'), grades('e1', 'e2'), grades('e1', 'e2', 'e4')]).toStrictEqual([
    { do: 'grade', id: 'e1' },
    { do: 'grade', id: 'e2' },
    { do: 'grade', id: 'e4' },
    { do: 'record', facts: [{ type: 'run.finished', data: { reason: 'deadline' } }] },
  ]);
  expect(
    step(afterOn({ terms: { grades: true } }, told, [2, { type: 'run.stopping', data: { by: 'mina' } }]), 3),
  ).toStrictEqual({ do: 'record', facts: [{ type: 'run.finished', data: { reason: 'stopped' } }] });
});
