import { expect, it } from 'vitest';

import { evolveRun } from '../../src/run/evolve.ts';
import type { RunState } from '../../src/run/model.ts';
import { accepted, after, opened, starting, submitted } from '../laws/aState.ts';

it('the first reason to end exploration stands, except a person’s stop', () => {
  const ending = (reason: 'deadline' | 'requested') =>
    ({ type: 'exploration.ending', data: { reason, by: 'x' } }) as const;
  const state = after([5, ending('requested')], [9, ending('deadline')]);
  expect([state.explorationEnding, state.explorationEndingAt]).toStrictEqual(['requested', 5]);
  expect(after([5, ending('deadline')], [9, { type: 'run.stopping', data: { by: 'mina' } }]).explorationEnding).toBe(
    'stopped',
  );
});

it('a second decision about an experiment changes nothing', () => {
  const state = after([1, opened(1), starting(1), submitted(1, 1), accepted(1, 1, 5)]);
  const again = [
    accepted(1, 1, 9),
    { type: 'experiment.rejected', data: { id: 'e1', option: 1, code: 'late', reason: '', score: null } } as const,
  ];
  const fold = (from: RunState | null, { type, data }: (typeof again)[number]) =>
    evolveRun(from, { seq: state.seq, v: 1, wall: 1, mono: 2, active: 2, type, data });
  expect(again.reduce<RunState | null>(fold, state)).toStrictEqual(state);
});

it('only the run’s own selection ends the review; a person’s word ends nothing', () => {
  const selected = (by: 'person' | 'fallback') =>
    ({
      type: 'candidate.selected',
      data: { candidate: 'e1', by, who: 'x', reason: 'y', gradesRevealed: false },
    }) as const;
  const one = [
    1,
    opened(1),
    submitted(1, 1),
    accepted(1, 1),
    { type: 'exploration.ended', data: { reason: 'deadline' } },
  ] as const;
  expect([
    after(one).phase,
    after(one, [2, selected('person')]).phase,
    after(one, [2, selected('fallback')]).phase,
  ]).toStrictEqual(['reviewing', 'reviewing', 'concluding']);
});

it('keeps the last hundred notices', () => {
  const notice = (text: string) => ({ type: 'run.noticed', data: { level: 'info', code: 'x', text } }) as const;
  const { notices } = after([1, ...Array.from({ length: 103 }, (_, index) => notice(`n${index}`))]);
  expect([notices.length, notices[0]?.text, notices.at(-1)?.text]).toStrictEqual([100, 'n3', 'n102']);
});
