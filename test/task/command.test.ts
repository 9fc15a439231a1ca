import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { splitCommand } from '../../src/task/command.ts';

describe('splitting a command', () => {
  it.each<[string, string[]]>([
    ['python3 evaluate.py', ['python3', 'evaluate.py']],
    ['  a\t b  ', ['a', 'b']],
    [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
    [`a 'it"s' "it's"`, ['a', 'it"s', "it's"]],
    [`a ''`, ['a', '']],
    [`a x'y z'w`, ['a', 'xy zw']],
    ['a b\\ c', ['a', 'b c']],
    [`a "b\\"c\\\\d"`, ['a', 'b"c\\d']],
    [`a '|' ">" ';' '$HOME'`, ['a', '|', '>', ';', '$HOME']],
    ['a --x=1 {prompt} 100% a#b c~d', ['a', '--x=1', '{prompt}', '100%', 'a#b', 'c~d']],
    ['a\n', ['a']],
    ['a \\| \\$x', ['a', '|', '$x']],
    ['a $ b', ['a', '$', 'b']],
  ])('%j', (text, expected) => {
    expect(splitCommand(text)).toEqual({ ok: true, value: expected });
  });

  it.each<[string, number, string]>([
    ['a | b', 2, '`|` is a pipe, which needs a shell'],
    ['a > b', 2, '`>` is a redirection, which needs a shell'],
    ['a >> b', 2, '`>>` is a redirection, which needs a shell'],
    ['a && b', 2, '`&&` is a shell operator, which needs a shell'],
    ['a || b', 2, '`||` is a pipe, which needs a shell'],
    ['a; b', 1, '`;` is a shell operator, which needs a shell'],
    ['a &', 2, '`&` is a shell operator, which needs a shell'],
    ['a < b', 2, '`<` is a redirection, which needs a shell'],
    ['a $(b)', 2, '`$(` is a command substitution, which needs a shell'],
    ['a `b`', 2, '``` is a command substitution, which needs a shell'],
    ['a "$(b)"', 3, '`$(` is a command substitution, which needs a shell'],
    ['a $HOME/x', 2, '`$HOME` is a shell variable, which needs a shell'],
    ['a "${HOME}"', 3, '`${HOME}` is a shell variable, which needs a shell'],
    ['a *.py', 2, '`*` is a shell wildcard, which needs a shell'],
    ['a ~/x', 2, '`~` is a home folder for a shell, which needs a shell'],
    ['a # b', 2, '`#` is a shell comment, which needs a shell'],
    ['a\nb', 1, '`a line break` is a second line, which needs a shell'],
    ['(a)', 0, '`(` is a subshell, which needs a shell'],
    ['X=1 a', 0, '`X=1` sets a variable, which needs a shell'],
    ['a "b', 2, 'the quote " is never closed'],
    ["a 'b", 2, "the quote ' is never closed"],
    ['   ', 0, 'the command is empty'],
    ["''", 0, 'the command is empty'],
  ])('refuses %j', (text, at, what) => {
    const split = splitCommand(text);
    expect(split.ok ? split : { at: split.refusal.at, what: split.refusal.what }).toEqual({ at, what });
  });

  it('says where the controller’s own variables are found', () => {
    const split = splitCommand('score --out $HMA_RESULT');
    expect(split.ok || split.refusal.fix).toBe('The program finds HMA_RESULT in its environment: read it there.');
  });

  it('gives back any arguments that are quoted', () => {
    const quote = (argument: string): string => `'${argument.replaceAll("'", `'\\''`)}'`;
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), (rest) => {
        const words = ['program', ...rest];
        expect(splitCommand(words.map(quote).join(' '))).toEqual({ ok: true, value: words });
      }),
    );
  });
});
