import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { adapters } from '../../src/agents/adapters.ts';
import { takesMessages } from '../../src/agents/adapterNames.ts';
import type { InboxMessage } from '../../src/agents/driver.ts';
import { deliverMessages } from '../../src/controller/messages.ts';
import type { Room } from '../../src/controller/room.ts';
import type { RunState } from '../../src/run/model.ts';
import { startTestRun } from '../rig/run.ts';
import { after, opened, started, starting } from '../laws/aState.ts';

it('the list of harnesses that take a message is what their adapters say', () => {
  const steered = Object.values(adapters).filter(({ capabilities }) => capabilities.steering);
  expect(steered.map(({ name }) => name).toSorted()).toEqual([...takesMessages].toSorted());
});

describe('messages of a person', () => {
  let sessions: string;
  beforeEach(() => {
    sessions = mkdtempSync(join(tmpdir(), 'hma-messages-'));
    mkdirSync(join(sessions, 'option-1', 'shown'), { recursive: true });
  });
  afterEach(() => rmSync(sessions, { recursive: true }));

  const say = (id: string, attempt = 1, option = 1) =>
    ({
      type: 'message.sent',
      data: { session: { kind: 'option', number: option }, attempt, id, text: `say ${id}\nin two lines`, by: 'kim' },
    }) as const;
  const deliver = (state: RunState): string[] => {
    deliverMessages({ recorder: { state }, files: { sessions } } as unknown as Room);
    const text = readFileSync(join(sessions, 'option-1', 'shown', 'inbox-1.jsonl'), 'utf8');
    return text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as InboxMessage).text);
  };

  it('are written into the inbox of their own attempt, each once, whoever died in between', () => {
    const told = after([1, opened(1), starting(1), started(1)], [2, say('a'), say('other', 2)], [3, say('b')]);
    expect(deliver(told)).toEqual(['say a\nin two lines', 'say b\nin two lines']);
    expect(deliver(told)).toEqual(['say a\nin two lines', 'say b\nin two lines']);
  });
});

it('a harness that takes none refuses in words, and nothing is recorded', async () => {
  await using run = await startTestRun({
    A: { 1: [{ submit: 1 }, { hold: true }] },
    B: {},
    contract: { budgets: { total: '5m', review: '30s' } },
  });
  await run.client.until('an experiment', (state) => state.archive.length === 1);
  const reply = await run.client.intend({ kind: 'message', text: 'hello', by: 'kim' });
  expect(reply).toMatchObject({ done: false, reason: 'no_steering' });
  expect(run.client.state?.messages).toEqual([]);
});
