import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from 'vitest';

import { completionsAt, hoverAt, repairOf, type EditingSchema } from '../../src/task/editing.ts';
import { loadContract } from '../../src/task/load.ts';

const schema = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../media/hma.schema.json'), 'utf8'),
) as EditingSchema;

/** Labels offered where `|` stands. */
const offered = (text: string): string[] =>
  completionsAt(text.replace('|', ''), text.indexOf('|'), { schema, words }).map(({ label }) => label);
const words = (path: readonly (string | number)[]): string[] =>
  /^agents\.[AB](\.adapter)?$/.test(path.join('.')) ? ['command', 'demo'] : [];
/** The text after the offer of this name was taken. */
const taken = (text: string, label: string): string => {
  const plain = text.replace('|', '');
  const one = completionsAt(plain, text.indexOf('|'), { schema }).find((each) => each.label === label);
  if (!one) throw new Error(`${label} is not offered`);
  return plain.slice(0, one.from) + one.insert + plain.slice(one.to);
};

describe('completion', () => {
  test('an empty file is offered all keys, the required ones marked', () => {
    const all = completionsAt('', 0, { schema });
    expect(all.filter(({ required }) => required).map(({ label }) => label)).toEqual([
      'objective',
      'candidate',
      'evaluate',
    ]);
    expect(all.map(({ label }) => label)).toContain('budgets');
  });
  test('keys that stand there already are not offered again', () => {
    expect(offered('objective: x\n|\nmetric: {}\n')).not.toContain('objective');
    expect(offered('objective: x\n|\nmetric: {}\n')).toContain('candidate');
  });
  test.each([
    ['policy:\n  |', ['mode', 'cap', 'first', 'tellCap', 'alternate', 'single']],
    ['policy:\n  mode: single\n  |\nbudgets:\n  total: 1h\n', ['cap', 'first', 'tellCap']],
    ['policy: { mode: alternate, | }\n', ['cap', 'first', 'tellCap']],
    ['prompts:\n  review: { | }', ['file']],
    [
      'agents:\n  A:\n    name: x\n    co|',
      [
        ...['adapter', 'command', 'prompt', 'model', 'effort', 'environment'],
        ...['program', 'preset', 'baseUrl', 'keyVariable', 'permissions', 'tools'],
      ],
    ],
  ])('keys by place: %j', (text, keys) => {
    expect(offered(text)).toEqual(keys);
  });
  test.each([
    ['feedback: |', ['score', 'blind']],
    ['metric: { direction: m| }', ['maximize', 'minimize']],
    ['metric:\n  direction: |\n  noise: 0\n', ['maximize', 'minimize']],
    ['policy:\n  tellCap: |', ['true', 'false']],
    ['agents: { A: | }', ['command', 'demo']],
    ['evaluate:\n  result: |', ['file', 'last-line']],
  ])('words by place: %j', (text, expected) => {
    expect(offered(text)).toEqual(expected);
  });
  test.each(['# a comment |', 'name: |', 'objective: |\n  prose | in a block'.replace('|\n', '>\n'), 'nonsense:\n  |'])(
    'nothing where nothing is known: %j',
    (text) => {
      expect(offered(text)).toEqual([]);
    },
  );
  test('what is taken replaces the word that was begun', () => {
    expect(taken('pol|icy\n', 'policy')).toBe('policy: \n');
    expect(taken('pol|: single\n', 'policy')).toBe('policy: single\n');
    expect(taken('feedback: bl|\n', 'blind')).toBe('feedback: blind\n');
  });
  test('a half-written file elsewhere does not matter', () => {
    expect(offered('metric: { name: [x\nfeedback: |')).toEqual(['score', 'blind']);
    expect(offered('name: "open\nx: 1"\npolicy:\n  |')).toContain('cap');
  });
});

describe('hover', () => {
  test('a key and its value tell what the key means', () => {
    const text = 'policy:\n  cap: 5\n';
    expect(hoverAt(text, text.indexOf('cap'), schema)).toMatchObject({
      path: ['policy', 'cap'],
      from: 10,
      to: 13,
      markdown: expect.stringMatching(
        /^\*\*policy\.cap\*\* — .*\n\nMost accepted experiments in one option/,
      ) as unknown,
    });
    expect(hoverAt(text, text.indexOf('5'), schema)?.path).toEqual(['policy', 'cap']);
    expect(hoverAt('candidate: [a, b]', 12, schema)?.markdown).toMatch(/^\*\*candidate\*\*/);
    expect(hoverAt('foo: 1', 1, schema)).toBeUndefined();
  });
});

describe('repairs', () => {
  const made: string[] = [];
  afterEach(() => made.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));
  const messages = async (text: string, onDisk = 'name: on disk\n') => {
    const workspace = mkdtempSync(join(tmpdir(), 'hma-contract-'));
    made.push(workspace);
    writeFileSync(join(workspace, 'hma.yaml'), onDisk);
    const loaded = await loadContract({ workspace, text, given: { wall: 0, adapters: ['command', 'demo'] } });
    return loaded.ok ? loaded.value.warnings : loaded.refusal.messages;
  };
  const repairs = async (text: string) => (await messages(text)).flatMap((one) => repairOf(one) ?? []);

  test('the text in the editor is checked, not the file', async () => {
    expect((await messages('objectiv: x\n')).map(({ code, line }) => [code, line])).toContainEqual(['unknown_key', 1]);
  });
  test('an unknown key, a wrong word and an unknown adapter become the nearest', async () => {
    const found = await repairs(
      'objective: x\ncandidate: a\nevaluate: [true]\nfeedbak: score\nagents: { A: comand, B: demo }\nmetric: { direction: maximise }\n',
    );
    expect(found.map(({ title }) => title).sort()).toEqual([
      'Change to command',
      'Change to feedback',
      'Change to maximize',
    ]);
  });
  test('missing keys are begun, a missing objective is created, one outside of the folder is not', async () => {
    expect((await repairs('name: x\n')).map(({ title }) => title)).toEqual([
      'Add objective',
      'Add candidate',
      'Add evaluate',
    ]);
    expect(
      (await repairs('objective: { file: task.md }\ncandidate: a\nevaluate: [true]\n')).map(({ edit }) => edit),
    ).toContainEqual({ kind: 'createFile', path: 'task.md' });
    expect(repairOf({ code: 'file_missing', what: '`objective`: ../task.md does not exist', fix: '' })).toBeUndefined();
  });
});
