import { expect, it } from 'vitest';

import { covers, overlap } from '../../src/task/globs.ts';
import { nearest } from '../../src/task/nearest.ts';
import { parseDateTime, parseDuration, parseSize, parseTokens, sayDuration } from '../../src/task/quantities.ts';

it.each<[number | string, number | undefined]>([
  ['6h', 21_600_000],
  ['15m', 900_000],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['1h 30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['2d', 172_800_000],
  ['250ms', 250],
  [90, 90_000],
  [0, 0],
  ['90', undefined],
  ['6 h', undefined],
  ['-1h', undefined],
  ['6hours', undefined],
  ['', undefined],
  [-1, undefined],
  ['366d', undefined],
  ['1e3s', undefined],
])('reads the duration %j', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

it.each<[number | string, number | undefined]>([
  ['5M', 5_000_000],
  ['200k', 200_000],
  ['1.5 B', 1_500_000_000],
  ['1200', 1_200],
  [1_200, 1_200],
  ['5m', undefined],
  ['5MB', undefined],
  ['-1', undefined],
  [1.5, undefined],
  ['', undefined],
  ['none', undefined],
])('reads the tokens %j', (text, expected) => {
  expect(parseTokens(text)).toBe(expected);
});

it.each<[number | string, number | undefined]>([
  ['2GB', 2_000_000_000],
  ['64MiB', 67_108_864],
  ['1.5 KB', 1_500],
  ['512B', 512],
  [1024, 1024],
  ['2G', undefined],
  ['2gb', undefined],
  [1.5, undefined],
  ['99999999TB', undefined],
  ['', undefined],
])('reads the size %j', (text, expected) => {
  expect(parseSize(text)).toBe(expected);
});

it.each<[string, number | undefined]>([
  ['2026-12-01T18:00Z', Date.UTC(2026, 11, 1, 18)],
  ['2026-12-01 18:00:30+01:00', Date.UTC(2026, 11, 1, 17, 0, 30)],
  ['2026-12-01T18:00-0530', Date.UTC(2026, 11, 1, 23, 30)],
  ['2026-12-01T18:00', new Date(2026, 11, 1, 18).getTime()],
  ['2026-02-30T18:00Z', undefined],
  ['2026-13-01T18:00Z', undefined],
  ['2026-12-01T24:00Z', undefined],
  ['2026-12-01T18:60Z', undefined],
  ['2026-12-01', undefined],
  ['tomorrow', undefined],
])('reads the date %j', (text, expected) => {
  expect(parseDateTime(text)).toBe(expected);
});

it('says durations', () => {
  expect([21_600_000, 5_400_000, 45_000, 250, 3_661_000].map(sayDuration)).toEqual([
    '6 h',
    '1 h 30 min',
    '45 s',
    '250 ms',
    '1 h 1 min 1 s',
  ]);
});

it.each<[string, string | undefined]>([
  ['evalute', 'evaluate'],
  ['stop_after_barren', 'stopAfterBarren'],
  ['OBJECTIVE', 'objective'],
  ['budget', 'budgets'],
  ['obj', 'objective'],
  ['zzzz', undefined],
  ['', undefined],
])('suggests for %j', (word, expected) => {
  expect(nearest(word, ['evaluate', 'stopAfterBarren', 'objective', 'budgets'])).toBe(expected);
});

it.each<[string, string, boolean]>([
  ['a', 'a', true],
  ['a', 'a/b', true],
  ['a', 'ab', false],
  ['.', 'x', true],
  ['**', 'a/b', true],
  ['*.py', 'a.py', true],
  ['*.py', 'a/b.py', false],
  ['src/*', 'src/a/b', true],
  ['**/*.py', 'a/b.py', true],
  ['{a,b}', 'b/c', true],
  ['*', '.env', true],
])('%j covers %j: %j', (pattern, path, expected) => {
  expect(covers(pattern, path)).toBe(expected);
});

it.each<[string, string, boolean]>([
  ['a/b', 'a', true],
  ['a', 'a/b', true],
  ['*.py', '*.csv', false],
  ['**/*.py', '*.csv', false],
  ['**/*.py', 'src/*', true],
  ['src/**', 'data/**', false],
  ['src/*.py', 'src/e*', true],
  ['**', 'x/*', true],
  ['data/*', 'data/x/y', true],
  ['a*', 'ba*', false],
  ['**/*.py', 'data', true],
  ['src/**', 'src', true],
])('%j overlaps %j: %j, either way', (a, b, expected) => {
  expect([overlap(a, b), overlap(b, a)]).toEqual([expected, expected]);
});
