import { dirname } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { buildAll } from '../bootstrap/esbuild.mjs';
import { compare, comparisonTable, lineUps, outcomeOf, seeds, size, type Compared } from './comparison.ts';
import { hmaBundle } from './place.ts';

let all: Compared[];

beforeAll(async () => {
  const { wrong } = await buildAll(dirname(hmaBundle));
  if (wrong.length > 0) throw new Error(wrong.join('; '));
  all = await compare();
  console.log(`\n${comparisonTable(all)}\n`);
}, 900_000);

const of = (lineUp: string): Compared[] => all.filter((one) => one.lineUp === lineUp);

test('alternation and each agent alone, three seeds: all end well with the same budget, used up unless one alone has no more ideas', () => {
  expect(all.map(({ seed, lineUp }) => `${seed} ${lineUp}`)).toEqual(
    seeds.flatMap((seed) => lineUps.map((lineUp) => `${seed} ${lineUp}`)),
  );
  for (const { state, exit, left, outOfIdeas, lineUp } of all) {
    expect({ exit, phase: state.phase, budget: state.budgets.experiments, left }).toEqual({
      exit: 0,
      phase: 'finished',
      budget: size.experiments,
      left: [],
    });
    expect(outOfIdeas).toBe(lineUp !== 'alternation' && state.archive.length < size.experiments);
    const { record, recordGrade, finalGrade } = outcomeOf(state);
    expect([record, recordGrade, finalGrade].every(Number.isFinite)).toBe(true);
  }
});

test('alternation is strict, reviewed by the other agent, and both are authors; one alone stays alone, without a review', () => {
  for (const { state } of of('alternation')) {
    expect(state.options.every(({ agent }, index) => agent !== state.options[index - 1]?.agent)).toBe(true);
    expect(state.options.every(({ accepted }) => accepted.length <= size.cap)).toBe(true);
    expect(new Set(state.archive.map(({ author }) => author))).toEqual(new Set(['A', 'B']));
    expect(state.review?.reviewer).not.toBe(state.archive.at(-1)?.author);
  }
  for (const alone of ['A', 'B'] as const) {
    for (const { state } of of(alone)) {
      expect(
        new Set([...state.options.map(({ agent }) => agent), ...state.archive.map(({ author }) => author)]),
      ).toEqual(new Set([alone]));
      expect(state.review?.outcome ?? 'skipped').toBe('skipped');
    }
  }
});

test('another seed gives other scores and other authors', () => {
  const runs = of('alternation').map(({ state }) => ({
    scores: state.archive.map(({ score }) => score),
    authors: state.archive.map(({ author }) => author).join(''),
  }));
  expect(new Set(runs.flatMap(({ scores }) => scores)).size).toBe(runs.flatMap(({ scores }) => scores).length);
  expect(new Set(runs.map(({ authors }) => authors)).size).toBeGreaterThan(1);
});
