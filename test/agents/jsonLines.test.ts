import { appendFileSync, mkdirSync, renameSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filesBelow, jsonLines, outputFiles, type JsonLines } from '../../src/agents/jsonLines.ts';
import { aFolder } from '../evaluators/folders.ts';

async function seen(lines: JsonLines, last = false): Promise<unknown[]> {
  const values: unknown[] = [];
  await lines.look(last, (value) => values.push(value));
  return values;
}

function aFile(): { file: string; lines: JsonLines } {
  const file = join(aFolder(), 'a.jsonl');
  return { file, lines: jsonLines({ files: () => Promise.resolve([file]), maxLineBytes: 1000 }) };
}

describe('lines of JSON are read as they come', () => {
  it('each once, torn ones when they are whole, foreign ones never', async () => {
    const { file, lines } = aFile();
    expect(await seen(lines)).toEqual([]);
    writeFileSync(file, '{"n":1}\nplain text\n\n{"n":');
    expect(await seen(lines)).toEqual([{ n: 1 }]);
    expect(await seen(lines)).toEqual([]);
    appendFileSync(file, '2}\n[3]\n"ä');
    expect(await seen(lines)).toEqual([{ n: 2 }, [3]]);
    appendFileSync(file, 'ö"');
    expect(await seen(lines, true)).toEqual(['äö']);
    expect(await seen(lines, true)).toEqual([]);
  });

  it('a last line that is torn for good is left out', async () => {
    const { file, lines } = aFile();
    writeFileSync(file, '{"n":1}\n{"n":2');
    expect(await seen(lines, true)).toEqual([{ n: 1 }]);
    appendFileSync(file, '}\n');
    expect(await seen(lines, true)).toEqual([{ n: 2 }]);
  });

  it('wherever the file is cut between two looks', async () => {
    const values = [{ n: 1, text: 'ä\n€😀' }, 'b', [null, 3], {}];
    const whole = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 6 }), async (cuts) => {
        const { file, lines } = aFile();
        const told: unknown[] = [];
        let at = 0;
        for (const cut of [...cuts.sort((a, b) => a - b), whole.length]) {
          appendFileSync(file, whole.subarray(at, cut));
          at = cut;
          told.push(...(await seen(lines)));
        }
        expect(told).toEqual(values);
      }),
      { numRuns: 60 },
    );
  });

  it('a line that is too long is skipped, in however many looks it comes, and the next one is read', async () => {
    const { file, lines } = aFile();
    writeFileSync(file, `{"n":1}\n"${'x'.repeat(2000)}`);
    expect(await seen(lines)).toEqual([{ n: 1 }]);
    appendFileSync(file, `${'x'.repeat(500_000)}"\n{"n":2}\n`);
    expect(await seen(lines)).toEqual([{ n: 2 }]);
    appendFileSync(file, `"${'x'.repeat(998)}"\n"${'x'.repeat(999)}"\n3\n`);
    expect(await seen(lines)).toEqual(['x'.repeat(998), 3]);
  });

  it('a file that was truncated, replaced or rewritten in place is read from its beginning', async () => {
    const { file, lines } = aFile();
    writeFileSync(file, '1\n2\n');
    await seen(lines);
    truncateSync(file, 0);
    appendFileSync(file, '3\n');
    expect(await seen(lines)).toEqual([3]);
    writeFileSync(`${file}.new`, '4\n5\n6\n');
    renameSync(`${file}.new`, file);
    expect(await seen(lines)).toEqual([4, 5, 6]);
    writeFileSync(file, '7777\n8888\n9999\n');
    expect(await seen(lines)).toEqual([7777, 8888, 9999]);
    unlinkSync(file);
    expect(await seen(lines)).toEqual([]);
  });

  it('new files are found; links, FIFOs and folders are not read', async () => {
    const root = aFolder();
    const secret = join(aFolder(), 'secret.jsonl');
    writeFileSync(secret, '"secret"\n');
    mkdirSync(join(root, 'p', 'sub'), { recursive: true });
    mkdirSync(join(root, 'p', 'folder.jsonl'));
    symlinkSync(secret, join(root, 'p', 'link.jsonl'));
    symlinkSync(join(secret, '..'), join(root, 'q'));
    spawnSync('mkfifo', [join(root, 'p', 'fifo.jsonl')]);
    writeFileSync(join(root, 'p', 'b.jsonl'), '"b"\n');
    const files = () => filesBelow(root, { matches: (path) => path.endsWith('.jsonl') });
    const lines = jsonLines({ files });
    expect(await seen(lines)).toEqual(['b']);
    writeFileSync(join(root, 'p', 'sub', 'a.jsonl'), '"a"\n');
    writeFileSync(join(root, 'p', 'sub', 'a.txt'), '"no"\n');
    expect(await seen(lines)).toEqual(['a']);
    const named = ['fifo.jsonl', 'link.jsonl', 'folder.jsonl'].map((name) => join(root, 'p', name));
    expect(await seen(jsonLines({ files: () => Promise.resolve(named) }))).toEqual([]);
  });

  it("a program's output is its log and then the segments of its end, by their offsets", async () => {
    const root = aFolder();
    for (const name of ['output.log', 'output.tail-900', 'output.tail-1800', 'output.json', 'output.times'])
      writeFileSync(join(root, name), '');
    const names = ['output.log', 'output.tail-900', 'output.tail-1800'];
    expect(await outputFiles(join(root, 'output.log'))).toEqual(names.map((name) => join(root, name)));
  });
});
