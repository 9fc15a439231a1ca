import { expect, it } from 'vitest';

import { decideIntent } from '../../src/controller/intents.ts';
import type { Intent } from '../../src/protocol/client.ts';
import { nextStep } from '../../src/run/next.ts';
import type { RunState } from '../../src/run/model.ts';
import { after, at, turn } from '../laws/aState.ts';

const by = 'mina';
const paused = { type: 'run.paused', data: { reason: 'requested', detail: 'paused by mina', by } } as const;
const wished = { type: 'run.pauseAfter', data: { wanted: true, by } } as const;
const ended = { type: 'exploration.ended', data: { reason: 'deadline' } } as const;
const finished = { type: 'run.finished', data: { reason: 'deadline' } } as const;
const decide = (state: RunState, intent: Exclude<Intent, { kind: 'handoff' | 'message' }>) => {
  const decided = decideIntent(state, intent, at(50_000));
  return 'reason' in decided ? decided.reason : decided.facts;
};

it('pauses now or at the next boundary, resumes, and says nothing twice', () => {
  const open = after([1, ...turn(1)]);
  expect(decide(open, { kind: 'pause', after: false, by })).toStrictEqual([paused]);
  expect(decide(open, { kind: 'pause', after: true, by })).toStrictEqual([wished]);
  expect(decide(after([1, wished]), { kind: 'pause', after: true, by })).toStrictEqual([]);
  expect(decide(after([1, wished]), { kind: 'resume', by })).toStrictEqual([
    { type: 'run.pauseAfter', data: { wanted: false, by } },
  ]);
  expect(decide(after([1, paused]), { kind: 'pause', after: false, by })).toStrictEqual([]);
  expect(decide(after([1, paused]), { kind: 'resume', by })).toStrictEqual([{ type: 'run.resumed', data: { by } }]);
  expect(decide(open, { kind: 'resume', by })).toStrictEqual([]);
});

it('a pause wished for the boundary comes before the review too, and survives a pause of the machine’s', () => {
  const candidates = [1, ...turn(1, { candidates: [1] }), ...turn(2, { candidates: [2] })] as const;
  const step = nextStep(after(candidates, [2, wished, ended]), at(3), { lingerMs: 0 });
  expect(step).toStrictEqual({
    do: 'record',
    facts: [
      { type: 'run.paused', data: { reason: 'requested', detail: 'paused at the option boundary', by: 'person' } },
    ],
  });
  const disk = { type: 'run.paused', data: { reason: 'disk_low', detail: '', by: 'hma' } } as const;
  expect(after([1, wished], [2, disk], [3, { type: 'run.resumed', data: { by: 'hma' } }]).pauseAfter).toBe(true);
  expect(after([1, wished], [2, disk], [3, { type: 'run.resumed', data: { by } }]).pauseAfter).toBe(false);
  const review = { type: 'review.opened', data: { reviewer: 'A', tokenHash: 't' } } as const;
  expect(decide(after(candidates, [2, ended, review]), { kind: 'pause', after: true, by })).toBe('no_boundary');
});

it('begins the review while exploring, once', () => {
  expect(decide(after(), { kind: 'review', by })).toStrictEqual([
    { type: 'exploration.ending', data: { reason: 'requested', by } },
  ]);
  expect(
    decide(after([1, { type: 'exploration.ending', data: { reason: 'requested', by } }]), { kind: 'review', by }),
  ).toStrictEqual([]);
  expect(decide(after([1, ended]), { kind: 'review', by })).toBe('not_exploring');
});

it('stops a paused run too, once', () => {
  expect(decide(after([1, paused]), { kind: 'stop', by })).toStrictEqual([
    { type: 'run.stopping', data: { by } },
    { type: 'run.resumed', data: { by } },
  ]);
  expect(decide(after([1, { type: 'run.stopping', data: { by } }]), { kind: 'stop', by })).toStrictEqual([]);
});

it('a finished run takes a selection and nothing else, and is not paused any more', () => {
  const state = after([1, ...turn(1, { candidates: [1] })], [2, paused], [3, ended, finished]);
  expect({ pause: state.pause, pausedMs: state.pausedMs }).toStrictEqual({ pause: null, pausedMs: 1 });
  for (const intent of [
    { kind: 'pause', after: false, by },
    { kind: 'resume', by },
    { kind: 'stop', by },
    { kind: 'review', by },
    { kind: 'budget', by, totalMs: 900_000 },
  ] as const)
    expect(decide(state, intent)).toBe('finished');
  const select = { kind: 'select', candidate: 'e1', reason: 'it is small', by } as const;
  expect(decide(state, select)).toStrictEqual([
    {
      type: 'candidate.selected',
      data: { candidate: 'e1', by: 'person', who: by, reason: 'it is small', gradesRevealed: false },
    },
  ]);
  expect(decide(state, { ...select, candidate: 'e9' })).toBe('unknown_candidate');
  expect(decide(state, { kind: 'clearSelection', reason: 'no', by })).toBe('no_selection');
});

it('whether grades had been revealed before a selection is recorded', () => {
  const state = after([1, ...turn(1, { candidates: [1] }), { type: 'grades.revealed', data: { who: by } }]);
  expect(decide(state, { kind: 'select', candidate: 'e1', reason: 'its grade', by })).toMatchObject([
    { data: { gradesRevealed: true } },
  ]);
});
