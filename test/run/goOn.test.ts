import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { standing } from '../../src/archive/order.ts';
import { decideSubmission } from '../../src/experiments/decide.ts';
import { decideSelection, reviewerOf } from '../../src/review/decide.ts';
import { finalCandidate } from '../../src/review/selection.ts';
import { decideBudget } from '../../src/run/budget.ts';
import type { RunFact } from '../../src/run/events.ts';
import { evolveRun } from '../../src/run/evolve.ts';
import { beginner, carryOver } from '../../src/run/goOn.ts';
import type { RunState } from '../../src/run/model.ts';
import { nextStep } from '../../src/run/next.ts';
import { acceptedInRun, experimentsLeft } from '../../src/run/schedule.ts';
import type { AgentSlot, Contract } from '../../src/task/model.ts';
import { after, at, submitted, turn, accepted } from '../laws/aState.ts';

const last = { seq: 9, hash: 'f'.repeat(64) };
const agents = (A: string, B: string) => ({ A: { name: A, adapter: 'demo' }, B: { name: B, adapter: 'demo' } });
const pair = agents('ada', 'bob'); // those of the states by hand

/** The state of a run that has just begun to go on from another one. */
function goneOn(earlier: RunState, named = pair, over: { experiments?: number } = {}): RunState {
  const { from, facts } = carryOver(earlier, { last, agents: named });
  const { terms, workspace } = earlier;
  const opened: RunFact = {
    type: 'run.opened',
    data: {
      ...{ run: `${earlier.run}+`, workspace, contractHash: 'c', terms: { ...terms, agents: named } },
      budgets: { totalMs: 600_000, reviewMs: 60_000, experiments: over.experiments ?? null, until: null },
      ...{ tier: 'none', cannot: [], initial: 's9', from },
    },
  };
  const state = told(null, opened, ...facts);
  if (!state) throw new Error('no state');
  return state;
}

function told(state: RunState | null, ...facts: readonly RunFact[]): RunState | null {
  let now = state;
  for (const { type, data } of facts)
    now = evolveRun(now, { seq: (now?.seq ?? 0) + 1, v: 1, wall: 5, mono: 0, active: 0, type, data });
  return now;
}

const finished: RunFact = { type: 'run.finished', data: { reason: 'deadline' } };
/** Two options, ada's and bob's; e1 and e3 are candidates, e2 was rejected. */
const earlier = after(
  [10, ...turn(1, { candidates: [1] }).slice(0, -1)],
  [
    11,
    submitted(2, 1),
    { type: 'experiment.rejected', data: { id: 'e2', option: 1, code: 'invalid', reason: 'no', score: null } },
  ],
  [12, ...turn(2, { candidates: [3] })],
  [13, { type: 'candidate.disqualified', data: { id: 'e1', reason: 'it read the labels', who: 'kim' } }],
  [
    14,
    { type: 'candidate.graded', data: { id: 'e3', nonce: 'n', result: { kind: 'graded', grade: 0.5, grader: 'v1' } } },
  ],
  [15, { type: 'candidate.reevaluated', data: { id: 'e3', nonce: 'm', verdict: { kind: 'scored', score: 2 } } }],
  [16, { type: 'grades.revealed', data: { who: 'kim' } }],
  [
    17,
    {
      type: 'candidate.selected',
      data: { candidate: 'e3', by: 'person', who: 'kim', reason: 'so', gradesRevealed: true },
    },
  ],
  [18, finished],
);

const submission = (state: RunState, contentHash: string) => {
  const option = state.options.at(-1);
  if (!option) throw new Error('no option');
  const captured = { snapshot: 's', contentHash, files: 1, bytes: 1 };
  return decideSubmission(state, { option, attempt: 1, note: null, reported: null, captured, tampered: [] });
};
const opening = (option: number, agent: AgentSlot): RunFact => ({
  type: 'option.opened',
  data: { option, agent, tokenHash: 't' },
});

describe('candidates that came over', () => {
  const state = goneOn(earlier);
  it('are as they were, with where they come from; the selection and the options stay behind', () => {
    expect(state.from).toEqual({
      run: 'r',
      ...last,
      candidates: 2,
      experiments: 3,
      initial: 's0',
      gradesRevealed: true,
    });
    expect(state.archive).toEqual(
      earlier.archive.map((candidate) => ({
        ...candidate,
        acceptedAt: 0,
        origin: { run: 'r', agent: candidate.author === 'A' ? 'ada' : 'bob', acceptedAt: candidate.acceptedAt },
      })),
    );
    expect(state.archive[0]?.disqualified).toMatchObject({ who: 'kim' });
    expect(state.archive[1]).toMatchObject({ grade: { grade: 0.5, grader: 'v1' }, reevaluations: [{}] });
    expect(state).toMatchObject({
      gradesRevealed: true,
      selections: [],
      options: [],
      experiments: [],
      phase: 'exploring',
    });
    expect(standing(state.archive)?.id).toBe('e3');
    expect(finalCandidate({ ...state, ...state.terms })).toMatchObject({ candidate: 'e3', by: 'fallback' });
  });

  it('come over once, whatever is told twice', () => {
    const [fact] = carryOver(earlier, { last, agents: pair }).facts;
    expect(told(state, fact as RunFact)?.archive).toBe(state.archive);
  });

  it('count towards no budget, and ids go on from the highest, rejected ones too', () => {
    const bounded = told(goneOn(earlier, pair, { experiments: 1 }), opening(1, 'A')) as RunState;
    expect([acceptedInRun(bounded), experimentsLeft(bounded)]).toEqual([0, 1]);
    expect(submission(bounded, 'new')).toMatchObject({ kind: 'new', id: 'e4' });
    expect(decideBudget(bounded, { experiments: 1, by: 'kim' }, at(1))).toHaveProperty('facts');
    const one = told(bounded, submitted(4, 1), accepted(4, 1)) as RunState;
    expect([acceptedInRun(one), experimentsLeft(one)]).toEqual([1, 0]);
    expect(decideBudget(one, { experiments: 0, by: 'kim' }, at(1))).toMatchObject({ reason: 'experiments_spent' });
    expect(submission(told(bounded, submitted(4, 1)) as RunState, 'newer')).toMatchObject({ id: 'e5' });
  });

  it('make the same files a duplicate', () => {
    const { facts } = submission(told(state, opening(1, 'A')) as RunState, 'h3') as { facts: readonly RunFact[] };
    expect(facts.at(-1)).toMatchObject({
      data: { code: 'duplicate', reason: 'the same files are candidate e3 already' },
    });
  });

  it('are selected by fallback where the run makes none of its own (invariant 7)', () => {
    const over = told(
      state,
      { type: 'exploration.ending', data: { reason: 'barren', by: 'hma' } },
      { type: 'exploration.ended', data: { reason: 'barren' } },
      { type: 'review.closed', data: { outcome: 'silent', detail: '' } },
    ) as RunState;
    expect(decideSelection(over)?.data).toMatchObject({ candidate: 'e3', by: 'fallback', gradesRevealed: true });
    const step = nextStep(over, at(1), { lingerMs: 0 });
    expect(step).toMatchObject({ do: 'record', facts: [{ type: 'candidate.selected' }] });
  });

  it('are reviewed by whoever did not write the standing one; where neither did, by the one that did not work last', () => {
    expect(reviewerOf(state)).toBe('A'); // bob wrote e3
    const others = goneOn(earlier, agents('cat', 'dan'));
    expect(others.archive.map(({ author, origin }) => [author, origin?.agent])).toEqual([
      [null, 'ada'],
      [null, 'bob'],
    ]);
    expect(reviewerOf(others)).toBe('B');
    expect(reviewerOf(told(others, opening(1, 'B')) as RunState)).toBe('A');
  });

  it('keep their place by name, where the two have changed it', () => {
    expect(goneOn(earlier, agents('bob', 'ada')).archive.map(({ author }) => author)).toEqual(['B', 'A']);
  });

  it('name the run that made them, along a chain', () => {
    const own = told(state, opening(1, 'A'), submitted(4, 1), accepted(4, 1), finished) as RunState;
    const third = goneOn(own, agents('cat', 'bob'));
    expect(
      third.archive.map(({ id, order, author, origin }) => [id, order, author, origin?.run, origin?.agent]),
    ).toEqual([
      ['e1', 1, null, 'r', 'ada'],
      ['e3', 2, 'B', 'r', 'bob'],
      ['e4', 3, null, 'r+', 'ada'],
    ]);
    expect(third.from).toMatchObject({ run: 'r+', candidates: 3, experiments: 4, initial: 's0' });
  });
});

it('along any chain no id is used twice, and budgets are spent by a run’s own candidates alone', () => {
  const made = fc.array(fc.constantFrom('accepted', 'rejected'), { maxLength: 4 });
  fc.assert(
    fc.property(fc.array(made, { minLength: 2, maxLength: 4 }), (runs) => {
      let state: RunState | null = null;
      const used = new Set<string>();
      for (const outcomes of runs) {
        state = state === null ? after() : goneOn(told(state, finished) as RunState);
        state = told(state, opening(1, 'A')) as RunState;
        for (const [index, outcome] of outcomes.entries()) {
          const decided = submission(state, `${state.run}-${index}`);
          if (decided.kind !== 'new') throw new Error('known');
          expect(used).not.toContain(decided.id);
          used.add(decided.id);
          const { id } = decided;
          const end: RunFact =
            outcome === 'accepted'
              ? { type: 'experiment.accepted', data: { id, option: 1, score: index, verdictAt: 0, flags: [] } }
              : { type: 'experiment.rejected', data: { id, option: 1, code: 'invalid', reason: '', score: null } };
          state = told(state, ...decided.facts, end) as RunState;
        }
        expect(acceptedInRun(state)).toBe(outcomes.filter((outcome) => outcome === 'accepted').length);
      }
      const all = runs.flat().filter((outcome) => outcome === 'accepted').length;
      expect(state?.archive.map(({ order }) => order)).toEqual(Array.from({ length: all }, (_, index) => index + 1));
    }),
  );
});

describe('who begins', () => {
  const contract = (A: string, B: string, mode: 'alternate' | 'single' = 'alternate') =>
    ({ agents: agents(A, B), policy: { mode, cap: 2, first: 'B', tellCap: false } }) as unknown as Contract;
  it.each([
    ['the same two: the one whose turn it is', contract('ada', 'bob'), 'A'],
    ['the same two, the other way round', contract('bob', 'ada'), 'B'],
    ['only the last one is the same: not that one', contract('bob', 'cat'), 'B'],
    ['only the last one is the same, second', contract('cat', 'bob'), 'A'],
    ['only the other one is the same: the contract’s first', contract('ada', 'cat'), 'B'],
    ['none is the same: the contract’s first', contract('cat', 'dan'), 'B'],
    ['one agent alone', contract('bob', 'ada', 'single'), 'B'],
  ])('%s', (_, given, first) => expect(beginner(earlier, given)).toBe(first));

  it('is the contract’s first where nothing had an option', () => {
    expect(beginner(after([1, finished]), contract('ada', 'bob'))).toBe('B');
  });

  it('is whose turn it was, where nothing had an option in a run that went on from another', () => {
    const between = told(goneOn(earlier), finished);
    expect(between?.terms.policy.first).toBe('A'); // bob had the last option before it
    expect(between && beginner(between, contract('ada', 'bob'))).toBe('A');
  });
});
