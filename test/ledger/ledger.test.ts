import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { headerLine, sealLine } from '../../src/ledger/format.ts';
import { describeLedgerRefusal, FenceLost, openLedger } from '../../src/ledger/openLedger.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';
import { event, freshFolder, opened, writeSample } from './sample.ts';

const types = (dir: string) => readLedger(dir).events.map(({ type }) => type);

describe('what is appended is read back', () => {
  test('a folder that does not exist is an empty ledger', () => {
    expect(readLedger('/nowhere/at/all')).toEqual({ events: [], problems: [], last: null, newestFence: 0 });
  });

  test('seq counts without gaps over segments, and append returns what a replay gives', () => {
    const dir = freshFolder();
    const live = [1, 2, 7].flatMap((fence) => {
      const { ledger, events } = opened(dir, fence);
      expect(ledger.lastSeq).toBe(events.length);
      const told = [
        ...ledger.append([event('x', { fence, gone: undefined, nan: Number.NaN }), event('y')]),
        ...ledger.append([event('z')]),
      ];
      ledger.close();
      return told;
    });
    expect(live.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(readLedger(dir)).toMatchObject({ events: live, problems: [], newestFence: 7 });
    expect(readLedger(dir).events).toStrictEqual(live);
  });

  test('law: replay = live, for any JSON in any batches', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.tuple(fc.string(), fc.jsonValue()), { maxLength: 4 }), { maxLength: 6 }),
        (batches) => {
          const dir = freshFolder();
          const { ledger } = opened(dir, 1);
          const live = batches.flatMap((batch) => ledger.append(batch.map(([type, data]) => event(type, data))));
          ledger.close();
          expect(readLedger(dir).events).toStrictEqual(live);
          expect(readLedger(dir).problems).toEqual([]);
          rmSync(dir, { recursive: true });
        },
      ),
      { numRuns: 60 },
    );
  });

  test('an event that could not be read back is a bug, and nothing is written', () => {
    const dir = freshFolder();
    const { ledger } = opened(dir, 1);
    expect(() => ledger.append([event('fine'), { ...event('bad'), wall: Number.NaN }])).toThrow(TypeError);
    expect(ledger.append([event('next')])).toMatchObject([{ seq: 1, type: 'next' }]);
    expect(types(dir)).toEqual(['next']);
  });

  test('nobody else may read the files', () => {
    const dir = freshFolder();
    opened(dir, 1).ledger.append([event('x')]);
    expect(statSync(join(dir, 'ledger-1.jsonl')).mode & 0o777).toBe(0o600);
  });
});

describe('a fence keeps replaced owners out', () => {
  test('an owner that lost its fence is told so after the sync, and its ledger is shut', () => {
    const dir = freshFolder();
    let mine = true;
    const { ledger } = opened(dir, 1, { confirmFence: () => mine });
    ledger.append([event('told')]);
    mine = false;
    expect(() => ledger.append([event('untold')])).toThrow(FenceLost);
    mine = true;
    expect(() => ledger.append([event('never')])).toThrow(FenceLost);
    expect(types(dir)).toEqual(['told', 'untold']);
  });

  test('what a frozen old owner writes beyond the seal is not the ledger', () => {
    const dir = freshFolder();
    const frozen = opened(dir, 1, { confirmFence: () => !existsSync(join(dir, 'ledger-2.jsonl')) }).ledger;
    frozen.append([event('before')]);
    const next = opened(dir, 2).ledger;
    expect(() => frozen.append([event('late')])).toThrow(FenceLost);
    next.append([event('after')]);
    expect(readFileSync(join(dir, 'ledger-1.jsonl'), 'utf8')).toContain('"late"');
    expect(readLedger(dir)).toMatchObject({ problems: [] });
    expect(types(dir)).toEqual(['before', 'after']);
    next.close();
    expect(opened(dir, 3).events.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'before'],
      [2, 'after'],
    ]);
  });

  test('a segment that a frozen owner creates after it was replaced is ignored', () => {
    const dir = freshFolder();
    opened(dir, 1).ledger.append([event('first')]);
    const seal = readLedger(dir).last;
    opened(dir, 3).ledger.append([event('third')]);
    const header = headerLine(2, seal);
    const late = sealLine({ seq: 2, end: 2, ...event('second') }, header.hash);
    writeFileSync(join(dir, 'ledger-2.jsonl'), `${header.line}\n${late.line}\n`);
    expect(types(dir)).toEqual(['first', 'third']);
    expect(readLedger(dir).problems).toEqual([]);
  });

  test('a fence that is not higher than all before is refused', () => {
    const dir = freshFolder();
    opened(dir, 5);
    for (const fence of [4, 5]) {
      const result = openLedger({ dir, fence, confirmFence: () => true });
      expect(result).toEqual({ ok: false, refusal: { reason: 'fence_used', fence, newest: 5 } });
    }
  });
});

describe('torn and broken files', () => {
  /** The sample, and for each number of bytes of its last segment the events that must be read. */
  const sample = () => {
    const dir = freshFolder();
    const batches = writeSample(dir);
    const wholes = batches.map((_, n) =>
      batches
        .slice(0, n + 1)
        .flat()
        .map(({ type }) => type),
    );
    return {
      dir,
      file: join(dir, 'ledger-4.jsonl'),
      prefixes: [[], ...wholes],
      all: batches.flat().map(({ type }) => type),
    };
  };

  test(
    'law: cut at every byte, a replay gives a prefix of whole batches, the next owner goes on, and the cut-off bytes are kept',
    { timeout: 180_000 },
    () => {
      const { dir, file, prefixes, all } = sample();
      const whole = readFileSync(file);
      // opening syncs a dozen times: every cut is read, and continued at each end of a line and every seventh byte
      const isContinued = (length: number) =>
        length % 7 === 0 || whole.subarray(Math.max(0, length - 1), length + 1).includes(10);
      let longest = 0;
      for (let length = 0; length < whole.length; length += 1) {
        const copy = `${dir}/cut`;
        mkdirSync(copy);
        copyFileSync(join(dir, 'ledger-1.jsonl'), join(copy, 'ledger-1.jsonl'));
        writeFileSync(join(copy, 'ledger-4.jsonl'), whole.subarray(0, length));
        const { events, problems } = readLedger(copy);
        const read = events.map(({ type }) => type);
        expect(prefixes).toContainEqual(read);
        expect(read.length, `cut at ${length}`).toBeGreaterThanOrEqual(longest);
        longest = read.length;
        const atBoundary = problems.length === 0;
        if (!atBoundary)
          expect(problems).toMatchObject([{ reason: 'torn_tail', fatal: false, file: join(copy, 'ledger-4.jsonl') }]);
        if (!isContinued(length)) {
          rmSync(copy, { recursive: true });
          continue;
        }
        const next = opened(copy, 5);
        next.ledger.append([event('goes on')]);
        next.ledger.close();
        expect(readLedger(copy)).toMatchObject({ problems: [] });
        expect(types(copy)).toEqual([...read, 'goes on']);
        expect(next.setAside.length).toBe(atBoundary ? 0 : 1);
        for (const aside of next.setAside)
          expect(whole.subarray(0, length).subarray(-statSync(aside).size || length)).toEqual(readFileSync(aside));
        expect(readFileSync(join(copy, 'ledger-4.jsonl'))).toEqual(whole.subarray(0, length));
        rmSync(copy, { recursive: true });
      }
      expect(longest).toBe(all.length - 1);
    },
  );

  test('law: with any byte changed in any segment, reading stops before it, never throws, and writing is refused', () => {
    const { dir, prefixes } = sample();
    const files = ['ledger-1.jsonl', 'ledger-4.jsonl'].map((name) => join(dir, name));
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.nat(), fc.integer({ min: 1, max: 255 }), (file, place, change) => {
        const whole = readFileSync(file);
        const damaged = Buffer.from(whole);
        const at = place % whole.length;
        damaged[at] = (whole[at] as number) ^ change;
        writeFileSync(file, damaged);
        try {
          const { events, problems } = readLedger(dir);
          expect(prefixes).toContainEqual(events.map(({ type }) => type));
          expect(
            problems.some(({ fatal }) => fatal),
            `${file}:${at} ^ ${change}`,
          ).toBe(true);
          const line = whole.subarray(0, at).filter((byte) => byte === 10).length + 1;
          const named = problems.find(({ fatal, file: where }) => fatal && where === file);
          if (named !== undefined) expect(Math.abs(named.line - line)).toBeLessThanOrEqual(1);
          const result = openLedger({ dir, fence: 9, confirmFence: () => true });
          expect(result).toMatchObject({ ok: false, refusal: { reason: 'broken' } });
        } finally {
          writeFileSync(file, whole);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test('every single byte of the last line is guarded', () => {
    const { dir, file, all } = sample();
    const whole = readFileSync(file);
    const from = whole.lastIndexOf(10, whole.length - 2) + 1;
    for (let at = from; at < whole.length; at += 1) {
      const damaged = Buffer.from(whole);
      damaged[at] = (whole[at] as number) ^ 1;
      writeFileSync(file, damaged);
      const reading = readLedger(dir);
      expect(reading.problems, `byte ${at - from}`).toMatchObject([{ file, line: 6, fatal: true }]);
      expect(reading.events.length).toBe(all.length - 1);
    }
  });

  test('a line that is missing, doubled or out of order is a break, with its place', () => {
    const { dir, file } = sample();
    const lines = readFileSync(file, 'utf8').split(/(?<=\n)/);
    const variants = [
      lines.toSpliced(2, 1),
      lines.toSpliced(2, 0, lines[2] as string),
      lines.toSpliced(2, 2, lines[3] as string, lines[2] as string),
    ];
    for (const [n, variant] of variants.entries()) {
      writeFileSync(file, variant.join(''));
      const { events, problems } = readLedger(dir);
      expect(problems).toMatchObject([{ file, line: [3, 4, 3][n], reason: 'broken_chain', fatal: true }]);
      expect(events.map(({ type }) => type)).toEqual([
        'run.opened',
        'option.starting',
        'option.started',
        'experiment.received',
      ]);
    }
  });

  test('zeros where a power loss kept a page of the last batch from the disk are torn, zeros before acknowledged batches are a break', () => {
    const dir = freshFolder();
    const { ledger } = opened(dir, 1);
    ledger.append([event('kept')]);
    const file = join(dir, 'ledger-1.jsonl');
    const kept = statSync(file).size;
    ledger.append([event('big', 'x'.repeat(300)), event('big', 'y'.repeat(300)), event('big', 'z'.repeat(300))]);
    const whole = readFileSync(file);
    writeFileSync(file, Buffer.from(whole).fill(0, kept + 100, kept + 500));
    expect(readLedger(dir)).toMatchObject({
      events: [{ type: 'kept' }],
      problems: [{ reason: 'torn_tail', fatal: false }],
    });
    writeFileSync(file, whole);
    ledger.append([event('later')]);
    writeFileSync(file, Buffer.from(readFileSync(file)).fill(0, kept + 100, kept + 500));
    expect(readLedger(dir)).toMatchObject({ events: [{ type: 'kept' }], problems: [{ fatal: true }] });
  });

  test('a sealed segment that is shorter, longer inside, or missing is a bad seal', () => {
    const { dir } = sample();
    const first = join(dir, 'ledger-1.jsonl');
    const size = statSync(first).size;
    truncateSync(first, size - 1);
    expect(readLedger(dir)).toMatchObject({
      events: [{ type: 'run.opened' }],
      problems: [{ file: first, fatal: true }],
    });
    rmSync(first);
    expect(readLedger(dir)).toMatchObject({
      events: [],
      problems: [{ file: first, reason: 'unreadable', fatal: true }],
    });
  });

  test('a segment that was cut at a batch is a bad seal', () => {
    const { dir } = sample();
    const first = join(dir, 'ledger-1.jsonl');
    const lines = readFileSync(first, 'utf8').split(/(?<=\n)/);
    writeFileSync(first, lines.slice(0, 2).join(''));
    expect(readLedger(dir)).toMatchObject({
      events: [{ type: 'run.opened' }],
      problems: [{ file: first, reason: 'bad_seal', fatal: true }],
    });
  });

  test('a ledger of a newer version is read up to there and refused for writing in clear words', () => {
    const { dir } = sample();
    const { line } = sealLine({ format: 'hma-ledger', v: 2, fence: 6, something: 'new' }, '0'.repeat(64));
    writeFileSync(join(dir, 'ledger-6.jsonl'), `${line}\n`);
    const { events, problems } = readLedger(dir);
    expect(events.length).toBe(8);
    expect(problems).toMatchObject([
      { file: join(dir, 'ledger-6.jsonl'), line: 1, reason: 'newer_version', fatal: true },
    ]);
    const result = openLedger({ dir, fence: 7, confirmFence: () => true });
    expect(result.ok).toBe(false);
    if (!result.ok)
      expect(describeLedgerRefusal(result.refusal)).toMatch(
        /ledger-6\.jsonl:1: it has format 2.*Continue this run with the newer HMA/,
      );
    expect(readdirSync(dir)).not.toContain('ledger-7.jsonl');
  });

  test('rubbish in the folder never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.integer({ min: 1, max: 3 }), (bytes, fence) => {
        const dir = freshFolder();
        writeFileSync(join(dir, `ledger-${fence}.jsonl`), bytes);
        expect(readLedger(dir).events).toEqual([]);
        rmSync(dir, { recursive: true });
      }),
      { numRuns: 200 },
    );
    const dir = freshFolder();
    mkdirSync(join(dir, 'ledger-1.jsonl'));
    writeFileSync(join(dir, 'ledger-x.jsonl'), '');
    expect(readLedger(dir)).toMatchObject({ events: [], problems: [{ reason: 'unreadable', fatal: true }] });
  });
});

describe('a full disk', () => {
  test('the partial line is taken back, the ledger stays whole, and a later append works', ({
    skip,
    onTestFinished,
  }) => {
    const dir = freshFolder();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir]);
    if (mounted.status !== 0) return skip('mounting a small file system needs root with CAP_SYS_ADMIN');
    onTestFinished(() => void spawnSync('umount', ['-l', dir]));
    const { ledger } = opened(dir, 1);
    const ballast = join(dir, 'ballast');
    writeFileSync(ballast, Buffer.alloc(32 * 1024));
    const told = ledger.append([event('fits')]);
    let refusals = 0;
    for (let n = 0; refusals < 3; n += 1) {
      const size = statSync(join(dir, 'ledger-1.jsonl')).size;
      try {
        told.push(...ledger.append([event('a', n), event('b', 'x'.repeat(5000))]));
      } catch (error) {
        expect(error).toMatchObject({
          name: 'LedgerFull',
          cause: { code: 'ENOSPC' },
          message: expect.stringContaining('ledger-1.jsonl') as string,
        });
        expect(statSync(join(dir, 'ledger-1.jsonl')).size).toBe(size);
        refusals += 1;
      }
    }
    expect(told.length).toBeGreaterThan(3);
    expect(readLedger(dir)).toMatchObject({ events: told, problems: [] });
    rmSync(ballast);
    told.push(...ledger.append([event('after'), event('that', 'x'.repeat(5000))]));
    expect(readLedger(dir)).toMatchObject({ events: told, problems: [] });
    ledger.close();
    return undefined;
  });

  test('a new owner on a full disk is refused, and the ledger is as before', ({ skip, onTestFinished }) => {
    const dir = freshFolder();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir]);
    if (mounted.status !== 0) return skip('mounting a small file system needs root with CAP_SYS_ADMIN');
    onTestFinished(() => void spawnSync('umount', ['-l', dir]));
    writeSample(dir);
    const before = readLedger(dir);
    let free = true;
    for (let n = 0; free; n += 1) {
      try {
        writeFileSync(join(dir, `fill-${n}`), Buffer.alloc(4096));
      } catch {
        free = false;
      }
    }
    expect(openLedger({ dir, fence: 9, confirmFence: () => true })).toMatchObject({
      ok: false,
      refusal: { reason: 'unwritable', code: 'ENOSPC' },
    });
    expect(readLedger(dir)).toEqual(before);
    return undefined;
  });
});

describe('released formats stay readable', () => {
  const fixtures = join(import.meta.dirname, 'fixtures');
  test.each(readdirSync(fixtures))('%s', (version) => {
    const dir = freshFolder();
    cpSync(join(fixtures, version), dir, { recursive: true });
    const expected = JSON.parse(readFileSync(join(dir, 'expected.json'), 'utf8')) as {
      events: unknown[];
      torn: number;
    };
    const { events, problems } = readLedger(dir);
    expect(events).toEqual(expected.events);
    expect(problems).toMatchObject([{ reason: 'torn_tail', fatal: false }]);
    const next = opened(dir, 9);
    expect(next.setAside.map((path) => statSync(path).size)).toEqual([expected.torn]);
    next.ledger.append([event('continued')]);
    expect(readLedger(dir).events).toEqual([
      ...expected.events,
      { seq: expected.events.length + 1, ...event('continued') },
    ]);
  });
});

test('a reader beside a busy appender sees only whole batches, and at most a torn tail', () => {
  const dir = freshFolder();
  const { ledger } = opened(dir, 1);
  ledger.append([event('a'), event('b')]);
  const file = join(dir, 'ledger-1.jsonl');
  const next = readFileSync(file);
  const size = next.length;
  ledger.append([event('c', 'ö'.repeat(40)), event('d')]);
  const bytes = readFileSync(file).subarray(size);
  truncateSync(file, size);
  for (const byte of bytes.subarray(0, -1)) {
    appendFileSync(file, Buffer.of(byte));
    expect(types(dir)).toEqual(['a', 'b']);
    expect(readLedger(dir).problems).toMatchObject([{ reason: 'torn_tail', fatal: false }]);
  }
});
