import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { edited, missing, openShell, stepsOf } from './tutorial.ts';

test('a tutorial’s files, edits and commands, in order; other blocks are prose', () => {
  const text = [
    'Words.\n\n`a.py`\n\n```python\nx = 1\n```\n',
    '```sh\nnot a step\n```\n',
    '`a.py`\n\n```diff\n-x = 1\n+x = 2\n\n y\n+z\n```\n',
    '```console\n$ first\n$ second now\n…\n  said\n^C\nleft\n```\n',
  ].join('\n');
  expect(stepsOf(text)).toEqual([
    { kind: 'write', path: 'a.py', text: 'x = 1\n' },
    {
      ...{ kind: 'edit', path: 'a.py' },
      changes: [
        { before: ['x = 1'], after: ['x = 2'] },
        { before: ['y'], after: ['y', 'z'] },
      ],
    },
    { kind: 'command', command: 'first', shown: [], before: null },
    { kind: 'command', command: 'second now', shown: ['…', '  said', 'left'], before: ['…', '  said'] },
  ]);
});

test('an edit is made where its lines stand, and only if they stand there once', () => {
  const change = { before: ['b'], after: ['c', 'd'] };
  expect(edited('a\nb\n', [change])).toBe('a\nc\nd\n');
  expect(() => edited('a\n', [change])).toThrow('stand 0 times');
  expect(() => edited('b\na\nb\n', [change])).toThrow('stand 2 times');
});

test.each([
  ['the same', ['e1  0.71'], 'e1 0.71\n', null],
  ['other times, lengths and ids', ['20261201-010628-627b  3:20, 1 min 2 s'], '20270101-000000-0000 12:01, 4 s', null],
  ['another number', ['e1  0.71'], 'e1 0.72', 'e1  0.71'],
  ['something left out within a line', ['e1 … end'], 'e1 by A, the end', null],
  ['lines left out', ['a', '…', 'c'], 'a\nb\nc', null],
  ['lines left out and not said', ['a', 'c'], 'a\nb\nc', 'c'],
  ['another order', ['…', 'b', '…', 'a', '…'], 'a\nb', 'a'],
  ['more than is shown', ['a'], 'a\nb', '(nothing more, but there is: b)'],
  ['nothing', [], '', null],
])('%s', (_, shown, printed, lack) => {
  expect(missing(shown, printed)).toBe(lack);
});

test('a shell keeps folder and variables, tells exit codes, and a command can be left', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hma-shell-'));
  try {
    await using shell = openShell(folder, { cwd: folder, env: { PATH: process.env['PATH'] } });
    expect(await shell.run('mkdir in && cd in && export WORD=kept')).toEqual({ code: 0, text: '' });
    expect(await shell.run('echo $WORD; basename "$PWD"; false')).toEqual({ code: 1, text: 'kept\nin\n' });
    const left = await shell.run(
      'bash -c "trap \'echo left; exit 8\' INT; echo on; while true; do sleep 0.1; done"',
      (text) => text.includes('on'),
    );
    expect(left).toEqual({ code: 8, text: 'on\nleft\n' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
