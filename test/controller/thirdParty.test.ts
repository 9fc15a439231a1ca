import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { expect, it } from 'vitest';

import { codeIn } from '../protocol/codeIn.ts';
import { strict } from '../protocol/strict.ts';
import { eventsOf, startTestRun } from '../rig/run.ts';

const docs = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(docs, 'protocol.md'), 'utf8');
const events = strict(JSON.parse(readFileSync(join(docs, 'schemas/events.json'), 'utf8')) as object);

/** Runs a program of the page as it stands there, in a folder with nothing of ours. */
async function program(root: string, name: string, ...words: readonly string[]): Promise<string> {
  const file = join(root, name);
  writeFileSync(file, codeIn(page, name));
  const child = spawn(process.execPath, [file, ...words], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  expect(code).toBe(0);
  return printed;
}

it('a client written from the protocol page alone follows a run to its end and hands over; every line is as the page says', async () => {
  await using run = await startTestRun({
    A: { 1: [{ submit: 1 }, { hold: true }] },
    B: { 2: [{ submit: 2 }, { submit: 3 }], review: [{ nominate: 'e2' }] },
    contract: { budgets: { total: '5m', review: '30s', experiments: 3 } },
  });
  const { root } = run.folders;
  await run.client.until('an experiment', (state) => state.archive.length === 1);
  const printed = await program(root, 'client.mjs', run.runFolder, '{"kind": "handoff", "by": "mina"}');
  const written = eventsOf(run.runFolder);
  const lines = printed.trim().split('\n');
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual(written.map(({ seq, type }) => `${seq} ${type}`));
  const reply = JSON.parse(lines.find((line) => line.startsWith('{')) ?? '') as { done: boolean; seq: number };
  expect(reply.done).toBe(true);
  expect(written.find(({ type }) => type === 'option.ending')).toMatchObject({
    seq: reply.seq,
    data: { option: 1, reason: 'handoff' },
  });

  expect(await program(root, 'verify.mjs', run.runFolder)).toContain(`${written.length} events, intact`);
  const raw = readFileSync(join(run.runFolder, 'ledger-1.jsonl'), 'utf8').trim().split('\n').slice(1);
  expect(raw.map((line) => JSON.parse(line) as object).filter((line) => !events.safeParse(line).success)).toEqual([]);
});
