import { expect, it } from 'vitest';

import type { Verdict } from '../../src/evaluators/port.ts';
import { nextEvaluationStep } from '../../src/experiments/decide.ts';
import type { RunFact } from '../../src/run/events.ts';
import type { RunState } from '../../src/run/model.ts';
import { accepted, after, afterOn, at, opened, started, starting, submitted } from '../laws/aState.ts';

const open = [0, opened(1), starting(1), started(1), submitted(1, 1)] as const;
let nonce = 0;
/** Runs of the evaluator for e1, each with its verdict and its stamp. */
const ran = (verdict: Verdict, told: { kind?: 'evaluate' | 'control'; at?: number; id?: string } = {}): RunFact[] => {
  const { kind = 'evaluate', id = 'e1' } = told;
  const name = `v${++nonce}`;
  return [
    { type: 'evaluation.starting', data: { id, nonce: name, kind } },
    { type: 'evaluation.ended', data: { id, nonce: name, verdict, at: told.at ?? 10 } },
  ];
};
const step = (state: RunState, active = 1_000) => nextEvaluationStep(state, at(active));
const rejected = (code: string, reason: string, score: number | null = null) => ({
  do: 'record',
  facts: [{ type: 'experiment.rejected', data: { id: 'e1', option: 1, code, reason, score } }],
});
const starts = (kind: 'evaluate' | 'control') => ({ do: 'startEvaluation', id: 'e1', kind });
const begun = { type: 'evaluation.starting', data: { id: 'e1', nonce: 'w', kind: 'evaluate' } } as const;

it('judges one at a time, in order of submission', () => {
  expect(step(after())).toStrictEqual({ do: 'nothing' });
  expect(step(after(open, [1, submitted(2, 1)]))).toStrictEqual(starts('evaluate'));
  expect(step(after(open, [1, submitted(2, 1), begun]))).toStrictEqual({ do: 'watchEvaluation', id: 'e1', nonce: 'w' });
});

it('says what the evaluator said', () => {
  const said = (verdict: Verdict) => step(after(open, [1, ...ran(verdict)]));
  expect(said({ kind: 'scored', score: 0.9 })).toStrictEqual({
    do: 'record',
    facts: [{ type: 'experiment.accepted', data: { id: 'e1', option: 1, score: 0.9, verdictAt: 10, flags: [] } }],
  });
  expect(said({ kind: 'scored', score: 101 })).toMatchObject({
    facts: [{ data: { score: 101, flags: ['out_of_range'] } }],
  });
  expect(said({ kind: 'invalid', reason: 'no column y' })).toStrictEqual(rejected('invalid', 'no column y'));
  expect(said({ kind: 'incorrect', reason: 'sum is wrong', score: 3 })).toStrictEqual(
    rejected('incorrect', 'sum is wrong', 3),
  );
  expect(said({ kind: 'non_finite', text: 'NaN' })).toStrictEqual(rejected('non_finite', 'the score was NaN'));
  expect(said({ kind: 'timeout', afterMs: 20_000 })).toStrictEqual(rejected('timeout', 'no verdict within 20 s'));
});

it('the score of repeats is their median, of an even number the mean of the middle two', () => {
  const scores = (repeats: number, ...all: number[]) =>
    step(
      afterOn({ terms: { evaluate: { repeats, exclusive: false, timeoutMs: 1 } } }, open, [
        1,
        ...all.flatMap((score) => ran({ kind: 'scored', score })),
      ]),
    );
  expect(scores(3, 5, 1)).toStrictEqual(starts('evaluate'));
  expect(scores(3, 5, 1, 4)).toMatchObject({ facts: [{ data: { score: 4 } }] });
  expect(scores(4, 5, 1, 4, 2)).toMatchObject({ facts: [{ data: { score: 3 } }] });
});

it('a crash without a result is tried once on files that worked: `invalid` if those pass, else the evaluator’s own fault', () => {
  const crashed = ran({ kind: 'no_result', detail: 'exit code 1' });
  expect(step(after(open, [1, ...crashed]))).toStrictEqual(starts('control'));
  expect(step(after(open, [1, ...crashed, ...ran({ kind: 'scored', score: 1 }, { kind: 'control' })]))).toStrictEqual(
    rejected('invalid', 'the evaluator gave no result on these files (exit code 1), but did on earlier ones'),
  );
  expect(
    step(after(open, [1, ...crashed, ...ran({ kind: 'no_result', detail: 'exit code 1' }, { kind: 'control' })])),
  ).toStrictEqual(rejected('evaluator_error', 'the evaluator gave no result (exit code 1), nor on earlier files'));
  expect(step(after(open, [1, ...crashed, ...ran({ kind: 'lost' }, { kind: 'control' })]))).toStrictEqual(
    starts('control'),
  );
  expect(
    step(
      after(open, [
        1,
        ...crashed,
        ...ran({ kind: 'lost' }, { kind: 'control' }),
        ...ran({ kind: 'lost' }, { kind: 'control' }),
      ]),
    ),
  ).toStrictEqual(rejected('evaluator_error', 'the control run was lost twice'));
  expect(step(afterOn({ initial: null }, open, [1, ...crashed]))).toStrictEqual(
    rejected(
      'evaluator_error',
      'the evaluator gave no result (exit code 1), and there are no earlier files to try it on',
    ),
  );
});

it('a lost evaluation is run once more, then it is the evaluator’s fault', () => {
  expect(step(after(open, [1, ...ran({ kind: 'lost' })]))).toStrictEqual(starts('evaluate'));
  expect(step(after(open, [1, ...ran({ kind: 'lost' }), ...ran({ kind: 'lost' })]))).toStrictEqual(
    rejected('evaluator_error', 'the evaluation was lost twice'),
  );
});

it('`late` is judged by the stamp of the verdict, not by when it is read', () => {
  const scored = (stamp: number) =>
    step(after(open, [1, ...ran({ kind: 'scored', score: 0.9 }, { at: stamp })]), 550_000);
  expect(scored(539_999)).toMatchObject({ facts: [{ type: 'experiment.accepted', data: { verdictAt: 539_999 } }] });
  expect(scored(540_000)).toStrictEqual(rejected('late', 'the verdict came after the end of exploration', 0.9));
});

it('`lateRule: submitted` accepts within the grace', () => {
  const terms = { lateRule: { rule: 'submitted', graceMs: 10_000 } } as const;
  const scored = (stamp: number) =>
    step(afterOn({ terms }, open, [1, ...ran({ kind: 'scored', score: 0.9 }, { at: stamp })]), 560_000);
  expect(scored(549_999)).toMatchObject({ facts: [{ type: 'experiment.accepted' }] });
  expect(scored(550_000)).toMatchObject({ facts: [{ data: { code: 'late' } }] });
  expect(step(afterOn({ terms }, open), 549_000)).toStrictEqual(starts('evaluate'));
});

it('running and queued ones are `late` at t_s and `cancelled` at a stop; at the k-th acceptance the rest are `cap_reached`, unrun', () => {
  const stop = { type: 'run.stopping', data: { by: 'mina' } } as const;
  expect(step(after(open), 540_000)).toStrictEqual(rejected('late', 'no verdict before the end of exploration'));
  expect(step(after(open, [1, begun]), 540_000)).toStrictEqual({
    do: 'abandonEvaluation',
    id: 'e1',
    nonce: 'w',
    code: 'late',
    reason: 'no verdict before the end of exploration',
  });
  expect(step(after(open, [1, stop]))).toStrictEqual(rejected('cancelled', 'the run was stopped'));
  expect(step(after(open, [1, begun, stop]))).toMatchObject({ do: 'abandonEvaluation', code: 'cancelled' });
  const full = after([
    0,
    opened(1),
    starting(1),
    submitted(2, 1),
    accepted(2, 1),
    submitted(3, 1),
    accepted(3, 1),
    submitted(1, 1),
  ]);
  expect(step(full)).toStrictEqual(rejected('cap_reached', 'the session had no experiments left'));
  expect(
    step(
      afterOn({ budgets: { experiments: 1 } }, [
        0,
        opened(1),
        starting(1),
        submitted(2, 1),
        accepted(2, 1),
        submitted(1, 1),
      ]),
    ),
  ).toStrictEqual(rejected('budget_reached', 'the run had no experiments left'));
});

it('the commit looks at cap, budget and stop once more', () => {
  const others = [
    opened(1),
    starting(1),
    submitted(2, 1),
    submitted(1, 1),
    ...ran({ kind: 'scored', score: 0.9 }),
  ] as const;
  const full = [0, ...others, accepted(2, 1), submitted(3, 1), accepted(3, 1)] as const;
  expect(step(after(full))).toStrictEqual(rejected('cap_reached', 'the session had no experiments left', 0.9));
  expect(step(afterOn({ budgets: { experiments: 1 } }, [0, ...others, accepted(2, 1)]))).toStrictEqual(
    rejected('budget_reached', 'the run had no experiments left', 0.9),
  );
  expect(
    step(after(open, [1, ...ran({ kind: 'scored', score: 0.9 }), { type: 'run.stopping', data: { by: 'mina' } }])),
  ).toStrictEqual(rejected('cancelled', 'the run was stopped', 0.9));
});

it('while paused a verdict is committed, and nothing is started', () => {
  const paused = { type: 'run.paused', data: { reason: 'requested', detail: '', by: 'mina' } } as const;
  expect(step(after(open, [1, paused]))).toStrictEqual({ do: 'nothing' });
  expect(step(after(open, [1, paused, ...ran({ kind: 'lost' })]))).toStrictEqual({ do: 'nothing' });
  expect(step(after(open, [1, paused, ...ran({ kind: 'scored', score: 1 })]))).toMatchObject({
    facts: [{ type: 'experiment.accepted' }],
  });
});
