import { expect, it } from 'vitest';

import { archiveAccepted } from '../../src/archive/evolve.ts';
import { record, standing } from '../../src/archive/order.ts';
import type { Candidate } from '../../src/archive/model.ts';
import { after, opened, submitted, turn } from '../laws/aState.ts';
import { aTerms } from '../laws/scenario.ts';

const { archive } = after([1_000, ...turn(1, { candidates: [1] })], [2_000, ...turn(2, { candidates: [2] })]);
const scored = (...scores: number[]) =>
  scores.map((score, index) => ({ ...(archive[0] as Candidate), id: `e${index + 1}`, score }));
const metric = aTerms().metric;

it('a candidate has its experiment’s id, author, option, files and score, in order', () => {
  const expected: Candidate = {
    id: 'e2',
    order: 2,
    author: 'B',
    option: 2,
    score: 2,
    reported: null,
    note: null,
    flags: [],
    acceptedAt: 2_000,
    acceptedWall: 1_790_000_002_000,
    snapshot: 's2',
    contentHash: 'h2',
    files: 1,
    bytes: 9,
    grade: null,
  };
  expect(archive[1]).toStrictEqual(expected);
});

it('the standing candidate is the latest, the record the best, the earliest of equals, by more than the noise', () => {
  expect([standing([])?.id, record([], metric)?.id]).toStrictEqual([undefined, undefined]);
  expect(standing(scored(5, 9, 1))?.id).toBe('e3');
  expect(record(scored(5, 9, 9, 1), metric)?.id).toBe('e2');
  expect(record(scored(5, 9, 1, 1), { ...metric, direction: 'minimize' })?.id).toBe('e3');
  expect(record(scored(5, 5.4, 5.6), { ...metric, noise: 0.5 })?.id).toBe('e3');
});

it('an experiment becomes a candidate once, and only with files', () => {
  const [one] = after([1, opened(1), submitted(1, 1)]).experiments;
  if (!one) throw new Error('no experiment');
  const event = {
    seq: 9,
    v: 1,
    wall: 5,
    mono: 5,
    active: 5,
    type: 'experiment.accepted',
    data: { id: 'e1', option: 1, score: 1, verdictAt: 4, flags: [] },
  } as const;
  const once = archiveAccepted([], one, event);
  expect([
    once.length,
    archiveAccepted(once, one, event),
    archiveAccepted([], { ...one, captured: null }, event),
  ]).toStrictEqual([1, once, []]);
});

it('a grade is kept with its time, and is one candidate’s alone', () => {
  const graded = after(
    [1_000, ...turn(1, { candidates: [1] })],
    [2_000, ...turn(2, { candidates: [2] })],
    [3_000, { type: 'candidate.graded', data: { id: 'e1', nonce: 'n', result: { kind: 'graded', grade: 0.7 } } }],
  );
  expect(graded.archive.map(({ grade }) => grade)).toStrictEqual([
    { kind: 'graded', grade: 0.7, wall: 1_790_000_003_000 },
    null,
  ]);
});
