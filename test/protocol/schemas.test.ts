import { expect, it } from 'vitest';

import {
  attachRequest,
  fileRequest,
  intent,
  nominateRequest,
  resultRequest,
  submitRequest,
} from '../../src/protocol/schemas.ts';

const token = 't'.repeat(40);
const takes = (schema: { safeParse(value: unknown): { success: boolean } }, ...values: unknown[]) =>
  values.map((value) => schema.safeParse(value).success);

it('takes what a session may ask, and nothing without a token or beyond its size', () => {
  expect(takes(submitRequest, { token }, { token, request: 'r', note: 'n', reported: 0.5 })).toStrictEqual([
    true,
    true,
  ]);
  expect(
    takes(
      submitRequest,
      {},
      { token: '' },
      { token, reported: NaN },
      { token, reported: '1' },
      { token, request: 'r'.repeat(65) },
      { token, note: 'n'.repeat(20_001) },
      { token, note: undefined },
    ),
  ).toStrictEqual(Array(7).fill(false));
  expect(
    takes(
      resultRequest,
      { token, id: 'e1', waitMs: 0 },
      { token, id: 'e1', waitMs: -1 },
      { token, id: 'e1', waitMs: Infinity },
      { token, id: 'e'.repeat(41), waitMs: 0 },
    ),
  ).toStrictEqual([true, false, false, false]);
  expect(
    takes(fileRequest, { token, id: 'initial' }, { token, id: 'e1', path: 'a b\nc' }, { token, path: 'a' }),
  ).toStrictEqual([true, true, false]);
  expect(takes(nominateRequest, { token, candidate: 'e1', reason: '' }, { token, candidate: 'e1' })).toStrictEqual([
    true,
    false,
  ]);
});

it('what is unknown in a request is dropped', () => {
  expect(submitRequest.parse({ token, agent: 'B', option: 1 })).toStrictEqual({ token });
});

it('takes every intent of a person, and none that says too little', () => {
  const by = 'mina';
  const good = [
    { kind: 'pause', after: true, by },
    { kind: 'resume', by },
    { kind: 'handoff', by },
    { kind: 'review', by },
    { kind: 'stop', by },
    { kind: 'budget', by, totalMs: 1, reviewMs: 0, experiments: null, until: null },
    { kind: 'budget', by, tokens: 5, cost: 0.5 },
    { kind: 'budget', by, tokens: null, cost: null },
    { kind: 'select', candidate: 'e1', reason: 'it is small', by },
    { kind: 'clearSelection', reason: 'no', by },
    { kind: 'revealGrades', by },
  ];
  expect(takes(intent, ...good)).toStrictEqual(good.map(() => true));
  const bad = [
    { kind: 'pause', by },
    { kind: 'resume' },
    { kind: 'stop', by: '' },
    { kind: 'budget', by, experiments: 0 },
    { kind: 'budget', by, tokens: 0 },
    { kind: 'budget', by, cost: -1 },
    { kind: 'budget', by, experiments: 1.5 },
    { kind: 'budget', by, totalMs: -1 },
    { kind: 'budget', by, totalMs: Infinity },
    { kind: 'select', candidate: 'e1', reason: '   ', by },
    { kind: 'forget', by },
  ];
  expect(takes(intent, ...bad)).toStrictEqual(bad.map(() => false));
});

it('a client may begin anew or go on after an event', () => {
  expect(
    takes(
      attachRequest,
      { protocol: 1 },
      { protocol: 1, after: 0 },
      { protocol: 1, after: -1 },
      { protocol: 1, after: 0.5 },
      {},
    ),
  ).toStrictEqual([true, true, false, false, false]);
});
