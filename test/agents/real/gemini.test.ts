import { expect, it } from 'vitest';

import { geminiUnderTest } from '../geminiUnderTest.ts';
import { commonCases, ended, harnessRig } from '../harnessCases.ts';

const rig = harnessRig(geminiUnderTest);
commonCases(geminiUnderTest, rig);

it('thinks as much as the model can', async () => {
  const { session, name } = await rig.start([{ text: 'Done.' }]);
  await ended(session);
  expect(rig.requestsOf(name)[0]?.body, session.output()).toMatchObject({
    generationConfig: { thinkingConfig: { thinkingBudget: 32_768 } },
  });
});

it('chooses the model itself where none is named, and the choosing is counted', async () => {
  const { session, name } = await rig.start([{ shell: 'echo one' }, { text: 'Done.' }], {
    agent: { model: undefined as unknown as string },
  });
  expect(session.failure(await ended(session)), session.output()).toBeNull();
  const responses = await session.responses();
  const sent = rig.server.sent(name, 'all');
  expect(rig.requestsOf(name).some(({ side }) => side)).toBe(true);
  expect({
    uncachedInput: responses.reduce((sum, one) => sum + one.uncachedInput, 0),
    output: responses.reduce((sum, one) => sum + one.output, 0),
    reasoning: responses.reduce((sum, one) => sum + one.reasoning, 0),
  }).toEqual({ uncachedInput: sent.uncachedInput, output: sent.output, reasoning: sent.reasoning });
});

it('offers the commands of the session as tools when asked to', async () => {
  const { session, name } = await rig.start([{ text: 'Done.' }], { agent: { tools: 'mcp' } });
  await ended(session);
  expect(rig.requestsOf(name)[0]?.tools.join(' '), session.output()).toMatch(/hma.*submit/u);
});

it('limited, works with shell and files without being asked', async () => {
  const { session } = await rig.start([{ shell: 'echo 1 > made.txt' }, { text: 'Done.' }], { tier: 'none' });
  expect(session.failure(await ended(session)), session.output()).toBeNull();
  expect(session.room.read('made.txt'), session.output()).toBe('1\n');
});
