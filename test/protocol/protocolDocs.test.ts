import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';
import * as z from 'zod';

import { readLedger } from '../../src/ledger/readLedger.ts';
import { aFolder } from '../evaluators/folders.ts';
import { codeIn, jsonBlocks } from './codeIn.ts';
import { intents } from './meanings.ts';
import { protocolDocs } from './protocolDocs.ts';
import { strict } from './strict.ts';
import { withParts } from './withParts.ts';

const repository = join(import.meta.dirname, '../..');
const docs = join(repository, 'docs');
const page = readFileSync(join(docs, 'protocol.md'), 'utf8');
const fixture = join(repository, 'test/ledger/fixtures/v1');

it('docs/protocol.md and docs/schemas are current (node test/protocol/writeProtocolDocs.ts)', () => {
  const { parts, schemas } = protocolDocs();
  expect(withParts(page, parts)).toBe(page);
  for (const [name, schema] of Object.entries(schemas))
    expect(JSON.parse(readFileSync(join(docs, 'schemas', name), 'utf8')), name).toEqual(schema);
});

it('a page that lacks a part, or names one that there is not, is refused', () => {
  const made = '<!-- made: a -->\nold\n<!-- end -->\n';
  expect(withParts(made, { a: 'new' })).toBe('<!-- made: a -->\n\nnew\n\n<!-- end -->\n');
  expect(() => withParts(made, { a: '', b: '' })).toThrow('lacks the parts b');
  expect(() => withParts(made + made, { a: '' })).toThrow('stands twice');
});

it('links inside the page lead somewhere', () => {
  const anchors = new Set(
    [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
  const wanted = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
  expect(wanted.filter((anchor) => !anchors.has(anchor))).toEqual([]);
});

it('every reason for which an intent is refused is named', () => {
  const source = ['controller/intents.ts', 'run/budget.ts']
    .map((file) => readFileSync(join(repository, 'src', file), 'utf8'))
    .join('');
  const reasons = [...source.matchAll(/(?:\bno\(\s*|reason: )'([a-z_]+)'(?=,\s*(?:['`]|text:|\s))/g)].map(
    ([, reason]) => reason,
  );
  const known = [...Object.values(intents).flatMap(({ refusals }) => refusals), 'finished'];
  expect(
    reasons.filter((reason) => !known.includes(reason ?? '') && !['requested', 'handoff'].includes(reason ?? '')),
  ).toEqual([]);
  expect(known.filter((reason) => !reasons.includes(reason))).toEqual([]);
});

it('an event is taken as the schema says: of a known kind, with all of its fields', () => {
  const lines = strict(JSON.parse(readFileSync(join(docs, 'schemas/events.json'), 'utf8')) as object);
  const line = {
    seq: 1,
    end: 1,
    v: 1,
    wall: 1,
    mono: 1,
    active: 1,
    type: 'run.resumed',
    data: { by: 'mina' },
    hash: '',
  };
  const takes = (over: object) => lines.safeParse({ ...line, ...over }).success;
  expect([{}, { type: 'run.vanished' }, { data: {} }, { data: { by: 'mina', more: 1 } }].map(takes)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

const verify = (folder: string) => {
  const program = join(aFolder(), 'verify.mjs');
  writeFileSync(program, codeIn(page, 'verify.mjs'));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, folder], { encoding: 'utf8' });
  return { status, stdout, why: /Error: (.*)/.exec(stderr)?.[1] };
};

it('the program of the page checks a ledger: its own example, a released one, and what HMA itself reads', () => {
  const folder = aFolder();
  const [first = '', second = ''] = jsonBlocks(page);
  writeFileSync(join(folder, 'ledger-1.jsonl'), first);
  writeFileSync(join(folder, 'ledger-2.jsonl'), second);
  const hash = /"hash":"([0-9a-f]+)"\}\n$/.exec(second)?.[1];
  expect(verify(folder)).toEqual({
    status: 0,
    stdout: `4 events, intact; the last line's hash is ${hash}\n`,
    why: undefined,
  });
  expect(readLedger(folder).events).toHaveLength(4);
  expect(verify(fixture).stdout).toContain(`${readLedger(fixture).events.length} events, intact`);
});

it('the program of the page finds a changed byte, a missing line and a changed seal; a torn tail is no damage', () => {
  const changed = (change: (first: string, second: string) => readonly [string, string]) => {
    const folder = aFolder();
    const [first = '', second = ''] = jsonBlocks(page);
    const [one, two] = change(first, second);
    writeFileSync(join(folder, 'ledger-1.jsonl'), one);
    writeFileSync(join(folder, 'ledger-2.jsonl'), two);
    return verify(folder).why ?? verify(folder).stdout;
  };
  expect(changed((one, two) => [one.replace('mina', 'nina'), two])).toBe('ledger-1: broken after event 0');
  expect(changed((one, two) => [one.replace(/.*option\.settled.*\n/, ''), two])).toBe('ledger-1: broken after event 1');
  expect(changed((one, two) => [one, two.replace('"lastSeq":3', '"lastSeq":2')])).toBe(
    'ledger-2: broken after event 3',
  );
  expect(changed((one, two) => [one, `${two}{"seq":5,"en`])).toMatch(/^4 events, intact/);
});

it('the schemas of requests say what the sockets take', () => {
  const check = (name: string, definition: string) => {
    const schema = JSON.parse(readFileSync(join(docs, 'schemas', name), 'utf8')) as object;
    return z.fromJSONSchema({ ...schema, $ref: `#/$defs/${definition}` });
  };
  const [intend, submit] = [check('client.json', 'intend'), check('agent.json', 'submit')];
  expect(intend.safeParse({ kind: 'pause', after: true, by: 'mina' }).success).toBe(true);
  expect(intend.safeParse({ kind: 'pause', by: 'mina' }).success).toBe(false);
  expect(submit.safeParse({ token: 't', note: 'n' }).success).toBe(true);
  expect(submit.safeParse({ token: 't', note: 'n'.repeat(20_001) }).success).toBe(false);
});
