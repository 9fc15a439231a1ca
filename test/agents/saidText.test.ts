import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import type { SaidLine } from '../../src/agents/port.ts';
import { paintSaid, SaidText } from '../../src/agents/saidText.ts';

const say = (line: string): readonly SaidLine[] => [{ kind: 'text', text: line }];
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const texts = (lines: readonly SaidLine[]): string[] => lines.map(({ text }) => text);

test('lines are whole however the bytes are cut, also within a character', () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-zäß→]{1,12}$/u), { minLength: 1, maxLength: 8 }),
      fc.array(fc.integer({ min: 0, max: 60 })),
      (lines, cuts) => {
        const all = bytes(lines.join('\n'));
        const said = new SaidText(say);
        const got: string[] = [];
        let from = 0;
        for (const cut of [...cuts.filter((at) => at < all.length).toSorted((a, b) => a - b), all.length]) {
          got.push(...texts(said.take(all.subarray(from, cut))));
          from = cut;
        }
        expect([...got, ...texts(said.end())]).toEqual(lines);
      },
    ),
  );
});

test('a line whose beginning or middle is missing is left out', () => {
  const said = new SaidText(say, true);
  expect(texts(said.take(bytes('of a line\nwhole\ncut he')))).toEqual(['whole']);
  said.gap();
  expect(texts(said.take(bytes('re\nlast')))).toEqual([]);
  expect(texts(said.end())).toEqual(['last']);
  expect(said.end()).toEqual([]);
});

test('a line without end fills no memory, and what follows it is told', () => {
  const said = new SaidText(say);
  const piece = bytes('x'.repeat(1024 * 1024));
  for (let count = 0; count < 20; count++) expect(said.take(piece)).toEqual([]);
  expect(texts(said.take(bytes('\nnext\n')))).toEqual(['next']);
});

test('painted lines say what they are without colours, and obey nothing of the agent', () => {
  expect(paintSaid({ kind: 'error', text: 'a\u001b[2J\u001b]0;title\u0007b\nc\n' }, false)).toEqual(['! ab', '! c']);
  expect(paintSaid({ kind: 'person', text: 'stop' }, true)).toEqual(['\u001b[32m» stop\u001b[39m']);
  expect(paintSaid({ kind: 'text', text: 'plain' }, true)).toEqual(['plain']);
});
