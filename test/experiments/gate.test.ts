import { expect, it } from 'vitest';

import { admit, callerOf, decideSubmission, decideUncaptured } from '../../src/experiments/decide.ts';
import type { RunState } from '../../src/run/model.ts';
import { accepted, after, afterOn, at, opened, started, starting, submitted, turn } from '../laws/aState.ts';

const open = [0, opened(1), starting(1), started(1)] as const;
const asks = (state: RunState, active = 1_000, token = 'token-1') =>
  admit(state, callerOf(state, token), at(active))?.code ?? 'taken';
const ending = { type: 'option.ending', data: { option: 1, reason: 'handoff', descendants: [] } } as const;
const paused = { type: 'run.paused', data: { reason: 'requested', detail: '', by: 'mina' } } as const;

it('takes a submission from the option whose turn it is, known by its token alone', () => {
  expect(asks(after(open))).toBe('taken');
  expect(asks(after(open), 1_000, 'nonsense')).toBe('not_your_turn');
  expect(asks(after([0, ...turn(1)], [1, opened(2)]), 1_000, 'token-1')).toBe('not_your_turn');
  expect(callerOf(after(open), 'token-1')).toStrictEqual({ kind: 'option', option: 1 });
});

it('turns away with the word that is true', () => {
  expect(asks(after(open, [1, submitted(1, 1), accepted(1, 1), submitted(2, 1), accepted(2, 1)]))).toBe('cap_reached');
  expect(asks(afterOn({ budgets: { experiments: 1 } }, open, [1, submitted(1, 1), accepted(1, 1)]))).toBe(
    'budget_reached',
  );
  expect([539_999, 540_000].map((active) => asks(after(open), active))).toStrictEqual(['taken', 'late']);
  expect(asks(after(open, [1, paused]))).toBe('paused');
  expect(asks(after(open, [1, submitted(1, 1), submitted(2, 1), submitted(3, 1), submitted(4, 1)]))).toBe('paused');
  expect(asks(after(open, [1, ending]))).toBe('not_your_turn');
  expect(asks(after(open, [1, { type: 'exploration.ending', data: { reason: 'requested', by: 'mina' } }]))).toBe(
    'not_your_turn',
  );
  expect(asks(after(open, [1, { type: 'run.stopping', data: { by: 'mina' } }]))).toBe('cancelled');
  expect(asks(after([0, ...turn(1)], [1, { type: 'run.finished', data: { reason: 'x' } }]))).toBe('not_your_turn');
});

it('the reviewer submits nothing', () => {
  const state = after(
    [0, ...turn(1)],
    [
      1,
      { type: 'exploration.ended', data: { reason: 'deadline' } },
      { type: 'review.opened', data: { reviewer: 'B', tokenHash: 'token-r' } },
    ],
  );
  expect([asks(state, 2, 'token-r'), asks(state, 2, 'token-1')]).toStrictEqual(['in_review', 'not_your_turn']);
});

const files = (hash: string) => ({ snapshot: `new-${hash}`, contentHash: hash, files: 1, bytes: 9 });
function submit(state: RunState, hash: string, over: { request?: string; tampered?: string[] } = {}) {
  const option = state.options.at(-1);
  if (!option) throw new Error('no option');
  const { tampered = [], ...request } = over;
  const decided = decideSubmission(state, {
    option,
    attempt: 1,
    note: 'n',
    reported: 0.5,
    captured: files(hash),
    tampered,
    ...request,
  });
  return decided.kind === 'known' ? decided.id : decided.facts;
}

it('content equal to a pending or accepted submission of the same option is answered with that one’s id', () => {
  const state = after(open, [1, submitted(1, 1), accepted(1, 1), submitted(2, 1)]);
  expect([submit(state, 'h1'), submit(state, 'h2')]).toStrictEqual(['e1', 'e2']);
});

it('content that was rejected may be tried again; equal to another option’s candidate it is a duplicate', () => {
  const rejected = {
    type: 'experiment.rejected',
    data: { id: 'e1', option: 1, code: 'evaluator_error', reason: '', score: null },
  } as const;
  const fact = {
    type: 'experiment.submitted',
    data: { id: 'e2', option: 1, agent: 'A', attempt: 1, note: 'n', reported: 0.5, captured: files('h1') },
  };
  expect(submit(after(open, [1, submitted(1, 1), rejected]), 'h1')).toStrictEqual([fact]);
  const twin = submit(after([0, ...turn(1, { candidates: [1] })], [1, opened(2), starting(2)]), 'h1');
  expect(twin).toStrictEqual([
    { type: 'experiment.submitted', data: { ...fact.data, option: 2, agent: 'B' } },
    {
      type: 'experiment.rejected',
      data: { id: 'e2', option: 2, code: 'duplicate', reason: 'the same files are candidate e1 already', score: null },
    },
  ]);
});

it('the same call sent again has the same id, whatever became of it', () => {
  const rejected = {
    type: 'experiment.rejected',
    data: { id: 'e1', option: 1, code: 'invalid', reason: '', score: null },
  } as const;
  expect(submit(after(open, [1, submitted(1, 1, { request: 'r' }), rejected]), 'another', { request: 'r' })).toBe('e1');
});

it('changed protected files are refused as `tampered`, with a notice', () => {
  expect(submit(after(open), 'h', { tampered: ['data/test.csv', 'eval.py'] })).toMatchObject([
    { type: 'experiment.submitted', data: { id: 'e1' } },
    {
      type: 'experiment.rejected',
      data: {
        id: 'e1',
        option: 1,
        code: 'tampered',
        reason:
          'protected files were changed: data/test.csv, eval.py; get the original with: hma archive get protected PATH',
        score: null,
      },
    },
    {
      type: 'run.noticed',
      data: {
        level: 'warning',
        code: 'tampered',
        text: 'e1 by ada was refused: protected files were changed (data/test.csv, eval.py)',
      },
    },
  ]);
});

it('files that could not be captured are an experiment without files, rejected at once', () => {
  const state = after(open);
  const option = state.options[0];
  if (!option) throw new Error('no option');
  expect(
    decideUncaptured(state, {
      option,
      attempt: 1,
      note: null,
      reported: null,
      request: 'r',
      code: 'unstable',
      reason: 'a.csv: it changed',
    }),
  ).toStrictEqual({
    id: 'e1',
    facts: [
      {
        type: 'experiment.submitted',
        data: { id: 'e1', option: 1, agent: 'A', attempt: 1, note: null, reported: null, captured: null, request: 'r' },
      },
      {
        type: 'experiment.rejected',
        data: { id: 'e1', option: 1, code: 'unstable', reason: 'a.csv: it changed', score: null },
      },
    ],
  });
});
