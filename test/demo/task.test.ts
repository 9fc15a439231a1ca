import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { layOut } from '../../media/sample/digits/layOut.mjs';
import { judge } from '../../media/sample/digits/workspace/evaluate.mjs';
import { loadContract } from '../../src/task/load.ts';
import { type DemoAgent, type Play, play } from './play.ts';

const sample = new URL('../../media/sample/', import.meta.url).pathname;
const header = 'id,p0,p1,p2,p3,p4,p5,p6,p7,p8,p9';
let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'hma-sample-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Predictions that know nothing, with one line replaced. */
function predictions(change: (lines: string[]) => string[] = (lines) => lines): string {
  const rows = (part: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${part}${String(at + 1).padStart(4, '0')}${',0.1'.repeat(10)}`);
  return `${[header, ...change([...rows('v', 511), ...rows('t', 510)])].join('\n')}\n`;
}

describe('the evaluator', () => {
  const labels = readFileSync(join(sample, 'digits/hidden/validation.csv'), 'utf8');
  const judged = (change?: (lines: string[]) => string[]) => judge(predictions(change), labels);
  const first = (line: string) => (lines: string[]) => [line, ...lines.slice(1)];

  test('scores knowing nothing at ln 10', () => {
    const verdict = judged();
    expect('score' in verdict && verdict.score).toBeCloseTo(Math.LN10, 10);
  });

  test.each([
    ['a missing row', (lines: string[]) => lines.slice(1), /1020 rows, expected 1021/],
    ['missing test rows', (lines: string[]) => lines.slice(0, 511), /511 rows, expected 1021/],
    ['a row twice', (lines: string[]) => [...lines, lines[0]!], /line 1023 \(v0001\): this id is there twice/],
    ['an unknown id', first(`v0512${',0.1'.repeat(10)}`), /no such id/],
    ['nine probabilities', first(`v0001${',0.1'.repeat(9)}`), /9 probabilities, expected 10/],
    ['NaN', first(`v0001,NaN${',0.1'.repeat(9)}`), /not a number from 0 to 1/],
    ['Infinity', first(`v0001,Infinity${',0.1'.repeat(9)}`), /not a number from 0 to 1/],
    ['an empty cell', first(`v0001,${',0.1'.repeat(9)}`), /not a number from 0 to 1/],
    ['a negative probability', first(`v0001,-0.1,0.3${',0.1'.repeat(8)}`), /not a number from 0 to 1/],
    ['a sum of 1.1', first(`v0001,0.2${',0.1'.repeat(9)}`), /sum to 1\.1000/],
  ])('refuses %s', (_, change, reason) => {
    expect(judged(change)).toEqual({ invalid: expect.stringMatching(reason) });
  });

  test('refuses another header', () => {
    expect(judge('id,label\nv0001,3\n', labels)).toEqual({
      invalid: expect.stringContaining(`must begin with the line "${header}"`),
    });
  });
});

describe('the bundled task', () => {
  test('is small, and tells source and licence', () => {
    const bytes = filesBelow(sample).reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeLessThan(300_000);
    expect(readFileSync(join(sample, 'digits/workspace/DATA.md'), 'utf8')).toMatch(/10\.24432\/C50P49[^]*CC BY 4\.0/);
  });

  test('has no validation or test label in the workspace, and no test image in another split', () => {
    const rowsOf = (path: string) =>
      readFileSync(join(sample, 'digits', path), 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(','));
    expect([rowsOf('workspace/data/validation.csv')[0], rowsOf('workspace/data/test.csv')[0]]).toEqual([
      ['id', 'pixels'],
      ['id', 'pixels'],
    ]);
    const images = ['train', 'validation', 'test'].map((part) =>
      rowsOf(`workspace/data/${part}.csv`)
        .slice(1)
        .map((cells) => cells.at(-1)!),
    );
    expect(images.map((part) => part.length)).toEqual([776, 511, 510]);
    expect(new Set(images.flat()).size).toBe(1797);
  });

  test('is laid out as a contract that loads, with labels, grader and cap outside the workspace', async () => {
    const { workspace, hidden } = layOut(join(root, 'odd "name', 'w'), join(root, 'odd "name', 'h'), {
      seed: 2,
      total: '2m',
      review: '20s',
    });
    const loaded = await loadContract({ workspace, given: { wall: Date.UTC(2026, 10, 30) } });
    expect(loaded).toMatchObject({
      ok: true,
      value: {
        warnings: [],
        contract: {
          policy: { mode: 'alternate', cap: 3, first: 'B' },
          budgets: { totalMs: 120_000, reviewMs: 20_000, experiments: 12 },
          evaluate: { hidden: [join(hidden, 'validation.csv')] },
          grade: { hidden: [hidden] },
        },
      },
    });
    for (const file of filesBelow(workspace))
      expect(readFileSync(file, 'utf8')).not.toMatch(/validation\.csv, --labels|grade\.mjs|cap: 3|@[A-Z]+@/);
  });

  test('refuses to lay out over files, and to hide the labels inside the workspace', () => {
    mkdirSync(join(root, 'full'));
    writeFileSync(join(root, 'full', 'mine.txt'), '');
    expect(() => layOut(join(root, 'full'), join(root, 'full-hidden'))).toThrow(/is not empty/);
    expect(() => layOut(join(root, 'outer'), join(root, 'outer', 'hidden'))).toThrow(/lies inside the workspace/);
    expect(readdirSync(root)).not.toContain('outer');
  });

  test('the starter trains; evaluator and grader run on it as processes, and say what is missing', () => {
    const { workspace, hidden } = layOut(join(root, 'starter'), join(root, 'starter-hidden'));
    const node = (words: string[], candidate: string) => {
      const result = join(root, 'result.json');
      const ended = spawnSync(process.execPath, words, {
        cwd: workspace,
        encoding: 'utf8',
        env: { HMA_CANDIDATE: candidate, HMA_RESULT: result },
      });
      expect(ended).toMatchObject({ status: 0, stderr: '' });
      return JSON.parse(readFileSync(result, 'utf8')) as { score?: number; invalid?: string };
    };
    const labels = (part: string) => ['--labels', join(hidden, `${part}.csv`)];
    expect(node(['evaluate.mjs', ...labels('validation')], workspace)).toEqual({
      invalid: 'there is no predictions.csv; run: node solution/train.mjs',
    });
    expect(spawnSync(process.execPath, ['solution/train.mjs'], { cwd: workspace, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/log loss on unseen writers 0\.3/),
    });
    const candidate = join(root, 'candidate');
    mkdirSync(candidate);
    cpSync(join(workspace, 'predictions.csv'), join(candidate, 'predictions.csv'));
    expect(node(['evaluate.mjs', ...labels('validation')], candidate).score).toBeCloseTo(starterScore, 3);
    expect(node([join(hidden, 'grade.mjs'), ...labels('test')], candidate).score).toBeCloseTo(0.332, 2);
  });
});

/** Score of the starter solution with its own seed. */
const starterScore = 0.214;

describe('the demonstration agents', () => {
  const seeds = [1, 2, 3];
  // `DEMO_TABLE_FULL=1` for the demonstration's own size; by default half of it
  const size = process.env['DEMO_TABLE_FULL'] ? { experiments: 12, cap: 3 } : { experiments: 8, cap: 2 };
  const lineUps = (seed: number): [DemoAgent, ...DemoAgent[]][] => [
    seed % 2 === 0 ? ['builder', 'tuner'] : ['tuner', 'builder'],
    ['tuner'],
    ['builder'],
  ];
  const best = (one: Play) => [...one.candidates].sort((a, b) => a.score - b.score)[0]!;

  test(
    'three seeds: alternating, and each agent alone with the same number of experiments',
    { timeout: 900_000 },
    async () => {
      const jobs = seeds.flatMap((seed) => lineUps(seed).map((agents) => ({ seed, agents })));
      const plays = new Map<string, Play>();
      const worker = async (): Promise<void> => {
        for (let job = jobs.shift(); job; job = jobs.shift())
          plays.set(
            `${job.seed} ${job.agents.join('+')}`,
            await play({ ...job, ...size, review: job.agents.length > 1 }),
          );
      };
      await Promise.all([worker(), worker()]);
      console.log(table(seeds, plays, lineUps));

      for (const seed of seeds) {
        const [alternating, tuner, builder] = lineUps(seed).map((agents) =>
          plays.get(`${seed} ${agents.join('+')}`)!,
        ) as [Play, Play, Play];
        for (const one of [alternating, tuner, builder]) {
          expect(best(one).score).toBeLessThan(starterScore);
          for (const option of one.options)
            expect(option.output).toContain('scripted demonstration agent, no language model');
        }
        expect(alternating.candidates).toHaveLength(size.experiments);
        expect(alternating.options.length).toBeGreaterThanOrEqual(4);
        expect(alternating.options.every((option, at) => option.agent !== alternating.options[at + 1]?.agent)).toBe(
          true,
        );
        expect(alternating.options.some((option) => option.ended === 'cap')).toBe(true);
        expect(new Set(alternating.candidates.map((candidate) => candidate.agent))).toEqual(
          new Set(['tuner', 'builder']),
        );
        expect(alternating.candidates.map((candidate) => candidate.id)).toContain(alternating.nominations.at(-1)?.id);
        expect(alternating.review).toContain(`nominated ${alternating.nominations.at(-1)?.id}`);
      }
      const [one, two, three] = seeds.map((seed) =>
        plays.get(`${seed} ${lineUps(seed)[0]!.join('+')}`)!.candidates.map((candidate) => candidate.score),
      );
      expect(one).not.toEqual(two);
      expect(one).not.toEqual(three);
    },
  );

  test('the same seed makes the same models; a blind task works too', { timeout: 300_000 }, async () => {
    const facts = async (blind: boolean) =>
      await play({ seed: 4, agents: ['builder', 'tuner'], experiments: 3, cap: 2, review: true, blind });
    const [first, again] = await Promise.all([facts(false), facts(false)]);
    expect(again.candidates).toEqual(first.candidates);
    const blind = await facts(true);
    expect(blind.candidates).toHaveLength(3);
    expect(blind.review).toContain('score not shown');
    expect(blind.nominations.length).toBeGreaterThan(0);
  });
});

/** The plays as a table for people; the lowest score and grade win. */
function table(
  seeds: readonly number[],
  plays: ReadonlyMap<string, Play>,
  lineUps: (seed: number) => DemoAgent[][],
): string {
  const lines = ['seed  agents           experiments  options  record  its grade  nominated grade  scores'];
  for (const seed of seeds) {
    for (const agents of lineUps(seed)) {
      const { candidates, options, nominations } = plays.get(`${seed} ${agents.join('+')}`)!;
      const record = [...candidates].sort((a, b) => a.score - b.score)[0]!;
      const nominated = candidates.find(({ id }) => id === nominations.at(-1)?.id);
      const turns = options.map((option) => option.agent[0] + (option.ended === 'cap' ? '' : '*')).join('');
      lines.push(
        [
          String(seed).padEnd(5),
          agents.join('+').padEnd(16),
          String(candidates.length).padStart(11),
          turns.padStart(8),
          record.score.toFixed(4).padStart(7),
          record.grade.toFixed(4).padStart(10),
          (nominated?.grade.toFixed(4) ?? '').padStart(16),
          ` ${candidates.map(({ score }) => score.toFixed(3)).join(' ')}`,
        ].join(' '),
      );
    }
  }
  return lines.join('\n');
}
