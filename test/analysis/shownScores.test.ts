import { expect, test } from 'vitest';

import { shownRepeats } from '../../src/analysis/shownScores.ts';
import type { Candidate } from '../../src/archive/model.ts';
import type { RunState } from '../../src/run/model.ts';

const again = (score: number) => ({ nonce: `n${score}`, wall: 0, verdict: { kind: 'scored', score } });
const candidate = { reevaluations: [again(0.4), again(0.6)] } as unknown as Candidate;
const state = (feedback: 'score' | 'blind', gradesRevealed: boolean) =>
  ({ terms: { feedback }, gradesRevealed }) as unknown as RunState;

test('later runs of the evaluator are shown, of a blind task only once a person has revealed the grades', () => {
  expect(shownRepeats(state('score', false), candidate)?.mean).toBeCloseTo(0.5);
  expect(shownRepeats(state('blind', true), candidate)?.mean).toBeCloseTo(0.5);
  expect(shownRepeats(state('blind', false), candidate)).toBeNull();
  expect(shownRepeats(state('score', false), {})).toBeNull();
});
