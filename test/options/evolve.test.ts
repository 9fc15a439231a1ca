import { expect, it } from 'vitest';

import { closureOf } from '../../src/options/decide.ts';
import type { Option } from '../../src/options/model.ts';
import { accepted, after, opened, started, starting, submitted, turn } from '../laws/aState.ts';

it('an option from its opening to its close', () => {
  const state = after([1_000, ...turn(1, { candidates: [1] })]);
  const expected: Option = {
    number: 1,
    agent: 'A',
    tokenHash: 'token-1',
    openedAt: 1_000,
    state: 'closed',
    attempts: [
      {
        number: 1,
        nonce: 'n1-1',
        startingAt: 1_000,
        state: 'ended',
        startedAt: 1_000,
        spokeAt: null,
        endedAt: 1_000,
        exit: null,
        endedItself: true,
        failure: null,
      },
    ],
    accepted: ['e1'],
    submissions: 1,
    closure: 'natural',
    endedItself: true,
    capSeenAt: null,
    failures: 0,
    retryAt: null,
    ended: [],
    survivors: [],
    usage: [],
    endingAt: 1_000,
    endingMono: 1_000,
    settledAt: 1_000,
    reapedAt: 1_000,
    cleanAt: 1_000,
    closedAt: 1_000,
  };
  expect(state.options).toStrictEqual([expected]);
});

it('the first reason to end stands, and a used-up cap is always `cap`', () => {
  const end = (reason: 'handoff' | 'stopped') =>
    ({ type: 'option.ending', data: { option: 1, reason, descendants: [] } }) as const;
  const state = after(
    [1, opened(1), starting(1), submitted(1, 1), accepted(1, 1), submitted(2, 1)],
    [2, end('handoff')],
    [3, end('stopped')],
  );
  const option = state.options[0];
  expect(option && [option.closure, option.endingAt, closureOf(state, option)]).toStrictEqual([
    'handoff',
    2,
    'handoff',
  ]);
  const full = after(
    [1, opened(1), starting(1), submitted(1, 1), accepted(1, 1), submitted(2, 1)],
    [2, end('handoff')],
    [3, accepted(2, 1)],
  );
  expect(full.options[0] && closureOf(full, full.options[0])).toBe('cap');
});

it('survivors keep an option from being reaped until they are gone; all that was ended is kept for the successor', () => {
  const daemon = { pid: 7, command: 'nohup train', ageMs: 9 };
  const ending = [
    2,
    { type: 'option.ending', data: { option: 1, reason: 'handoff', descendants: [] } },
    { type: 'option.reaped', data: { option: 1, ended: [{ ...daemon, pid: 6 }], survivors: [daemon], ms: 1 } },
  ] as const;
  const stuck = after([1, opened(1), starting(1), started(1)], ending).options[0];
  expect(stuck && [stuck.reapedAt, stuck.survivors]).toStrictEqual([null, [daemon]]);
  const gone = after([1, opened(1), starting(1), started(1)], ending, [
    3,
    { type: 'option.reaped', data: { option: 1, ended: [daemon], survivors: [], ms: 1 } },
  ]).options[0];
  expect(gone && [gone.reapedAt, gone.survivors, gone.ended.map(({ pid }) => pid)]).toStrictEqual([3, [], [6, 7]]);
});
