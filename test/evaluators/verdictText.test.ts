import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePlainScore, parseVerdict } from '../../src/evaluators/verdictText.ts';

describe('a result that counts', () => {
  it.each([
    ['{"score": 0.5}', 0.5],
    [' {"score":-3e-7}\n', -3e-7],
    ['\uFEFF{"score": 1, "correct": true}', 1],
    ['{"correct":true,"score":0}', 0],
    [String.raw`{"\u0073core": 2}`, 2],
  ])('%s is a score', (text, score) => {
    expect(parseVerdict(text)).toEqual({ kind: 'scored', score });
  });

  it('says that a candidate is invalid, in one printable line of at most 500 characters', () => {
    expect(parseVerdict('{"invalid": "row 3\\nis \\u001b[31mshort"}')).toEqual({
      kind: 'invalid',
      reason: 'row 3 is [31mshort',
    });
    expect(parseVerdict('{"invalid": ""}')).toEqual({ kind: 'invalid', reason: 'no reason given' });
    const long = parseVerdict(JSON.stringify({ invalid: 'x'.repeat(10_000) }));
    expect(long.kind === 'invalid' && long.reason.length).toBe(500);
  });

  it('says that a candidate is incorrect, whatever its score', () => {
    const reason = 'the evaluator says that it is not correct';
    expect(parseVerdict('{"score": 9, "correct": false}')).toEqual({ kind: 'incorrect', reason, score: 9 });
    expect(parseVerdict('{"correct": false}')).toEqual({ kind: 'incorrect', reason });
    expect(parseVerdict('{"score": NaN, "correct": false}')).toEqual({ kind: 'incorrect', reason });
  });
});

describe('a score that is no finite number', () => {
  it.each(['NaN', 'Infinity', '-Infinity', '1e999', '-1e400'])('%s is non_finite', (text) => {
    expect(parseVerdict(`{"score": ${text}}`)).toEqual({ kind: 'non_finite', text });
  });
});

describe('a result that says nothing names what is wrong', () => {
  it.each([
    ['', 'the result is empty'],
    [' \n', 'the result is empty'],
    ['{"score": null}', 'JavaScript writes NaN as null'],
    ['{"score": "0.5"}', 'write a number without quotes'],
    ['{"score": true}', '"score" is a boolean'],
    ['{"score": [1]}', '"score" is a list'],
    ['{"score": {"a": 1}}', '"score" is an object'],
    ['{"score": 1, "score": 2}', 'the key "score" twice'],
    ['{"invalid": "a", "invalid": "b"}', 'the key "invalid" twice'],
    ['{"score": 1}\n{"score": 2}', 'more than one JSON document'],
    ['{"score": 1} trailing', 'unexpected "trailing"'],
    ['{"score": 1, "loss": 2}', 'the unknown key "loss"'],
    ['{"Score": 1}', 'the unknown key "Score"'],
    ['{"__proto__": {"score": 1}}', 'the unknown key "__proto__"'],
    ['{"score": 1, "correct": "yes"}', '"correct" must be true or false'],
    ['{"score": 1, "correct": null}', '"correct" must be true or false'],
    ['{"score": 1, "invalid": "x"}', '"invalid" beside a score'],
    ['{"invalid": 3}', '"invalid" must be a string'],
    ['{"correct": true}', 'no "score"'],
    ['{}', 'no "score"'],
    ['0.5', 'is a number, not an object'],
    ['[{"score": 1}]', 'is a list, not an object'],
    ['{"score": 01}', 'not JSON'],
    ['{"score": .5}', 'not JSON'],
    ['{"score": 0x10}', 'not JSON'],
    ['{"score": nan}', 'not JSON'],
    ["{'score': 1}", 'not JSON'],
    ['{"score": 1', 'not JSON'],
    ['{"score": 1,}', 'not JSON'],
    ['{"score" 1}', 'a colon is missing'],
    ['['.repeat(100_000), 'nested deeper'],
    ['{"a":'.repeat(100_000), 'nested deeper'],
  ])('%j', (text, part) => {
    const verdict = parseVerdict(text);
    expect(verdict.kind).toBe('no_result');
    expect(verdict.kind === 'no_result' && verdict.detail).toContain(part);
    expect(verdict.kind === 'no_result' && verdict.detail).not.toMatch(/[\n\r\u001b]/u);
  });
});

const oneOfEach = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.json(),
  fc.stringMatching(/^\{"(score|correct|invalid)": ?[-+0-9.eENaInfity"truefalsenull{}[\], ]{0,40}\}?$/u),
  fc
    .record({ score: fc.double(), correct: fc.boolean(), invalid: fc.string() }, { requiredKeys: [] })
    .map((value) => JSON.stringify(value)),
);

describe('laws', () => {
  it('never throws, and a score is always finite', () => {
    fc.assert(
      fc.property(oneOfEach, (text) => {
        for (const verdict of [parseVerdict(text), parsePlainScore(text)]) {
          if (verdict?.kind === 'scored') expect(Number.isFinite(verdict.score)).toBe(true);
          if (verdict?.kind === 'incorrect' && verdict.score !== undefined)
            expect(Number.isFinite(verdict.score)).toBe(true);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('reads every finite number that JSON.stringify writes as just that score', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (score) => {
        const text = JSON.stringify({ score });
        expect(parseVerdict(text)).toEqual({ kind: 'scored', score: JSON.parse(text).score });
      }),
    );
  });

  it("takes for a document only what JSON.parse takes, but for Python's bare words", () => {
    fc.assert(
      fc.property(oneOfEach, (text) => {
        if (/NaN|Infinity/u.test(text) || text.startsWith('\uFEFF')) return;
        const verdict = parseVerdict(text);
        if (verdict.kind !== 'no_result') expect(() => JSON.parse(text) as unknown).not.toThrow();
      }),
      { numRuns: 3000 },
    );
  });
});

describe('a score written plainly', () => {
  it.each([
    ['0.25', { kind: 'scored', score: 0.25 }],
    [' +1.5E3 ', { kind: 'scored', score: 1500 }],
    ['.5', { kind: 'scored', score: 0.5 }],
    ['nan', { kind: 'non_finite', text: 'nan' }],
    ['-inf', { kind: 'non_finite', text: '-inf' }],
    ['1e999', { kind: 'non_finite', text: '1e999' }],
    ['', null],
    ['0x10', null],
    ['1,5', null],
    ['0.5 0.6', null],
  ])('%j', (text, verdict) => {
    expect(parsePlainScore(text)).toEqual(verdict);
  });
});
