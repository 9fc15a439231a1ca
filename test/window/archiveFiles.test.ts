import { describe, expect, test } from 'vitest';

import type { SnapshotEntry } from '../../src/snapshots/port.ts';
import {
  archiveAddress,
  candidateIds,
  childrenOf,
  differencesOf,
  isBinary,
  isLarge,
  placeIn,
} from '../../src/window/archivePlace.ts';

const entry = (path: string, sha256 = path, more: Partial<SnapshotEntry> = {}): SnapshotEntry => ({
  path,
  kind: 'file',
  bytes: 1,
  sha256,
  ...more,
});

describe('places in the archive', () => {
  test.each([
    ['20261130-181123-ab12', 'e7', ''],
    ['20261130-181123-ab12', 'e7', 'solution/params.json'],
    ['20261130-181123-ab12', 'start', 'odd #?%\nname/ü'],
  ])('go into a URI and come back: %s %s %j', (run, candidate, path) => {
    const address = archiveAddress({ run, candidate, path }, '/work/my task');
    expect(placeIn(address, '/work/my task')).toEqual({ run, candidate, path });
  });
  test.each([
    ['e7.run', '/elsewhere/a'],
    ['e7.run', '/work/my task and more/a'],
    ['run', '/work/my task/a'],
    ['', '/work/my task/a'],
  ])('%j and %j name none', (authority, path) => {
    expect(placeIn({ authority, path }, '/work/my task')).toBeUndefined();
  });
});

test('a folder lists what lies directly below it, each once', () => {
  const entries = [entry('a.txt'), entry('sub/b'), entry('sub/deep/c'), entry('sub/deep/d'), entry('subway')];
  expect(childrenOf(entries, '')).toEqual([
    { name: 'a.txt', folder: false },
    { name: 'sub', folder: true },
    { name: 'subway', folder: false },
  ]);
  expect(childrenOf(entries, 'sub')).toEqual([
    { name: 'b', folder: false },
    { name: 'deep', folder: true },
  ]);
  expect(childrenOf(entries, 'none')).toEqual([]);
});

test('differences: added, removed, changed, and those of kind; equal files are none', () => {
  const found = differencesOf(
    [entry('same'), entry('gone'), entry('run'), entry('text', 'old')],
    [entry('same'), entry('new'), entry('run', 'run', { kind: 'executable' }), entry('text', 'new')],
  );
  expect(found.map(({ path, before, after }) => [path, before !== undefined, after !== undefined])).toEqual([
    ['gone', true, false],
    ['new', false, true],
    ['run', true, true],
    ['text', true, true],
  ]);
});

test('what no diff can show', () => {
  expect(isLarge({ path: 'x', before: undefined, after: { bytes: 5 * 1024 * 1024 + 1, kind: 'file' } })).toBe(true);
  expect(isLarge({ path: 'x', before: { bytes: 5, kind: 'file' }, after: undefined })).toBe(false);
  expect(isBinary(Buffer.from('text\n'))).toBe(false);
  expect(isBinary(Buffer.from([1, 0]))).toBe(true);
});

test('candidates that a command was called with: ids, rows, several, or none', () => {
  expect(candidateIds('e3')).toEqual(['e3']);
  expect(candidateIds({ candidate: 'e4', id: 'candidate/e4' })).toEqual(['e4']);
  expect(candidateIds({ candidate: { id: 'e5' } })).toEqual(['e5']);
  expect(candidateIds([{ candidate: 'e1' }, 'e2', { candidate: 'e1' }, undefined])).toEqual(['e1', 'e2']);
  expect(candidateIds({ candidate: null, id: 'option/3' })).toEqual([]);
});
