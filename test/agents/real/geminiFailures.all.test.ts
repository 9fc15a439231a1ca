import { expect, it } from 'vitest';

import { geminiUnderTest } from '../geminiUnderTest.ts';
import { faultCases, harnessRig } from '../harnessCases.ts';

const rig = harnessRig(geminiUnderTest);
const soon = Math.ceil(Date.now() / 1000) * 1000 + 3_600_000;

faultCases(geminiUnderTest, rig, [
  ['a key that is none', { kind: 'invalid_key' }, 'login_expired'],
  ['401', { kind: 'unauthorized' }, 'login_expired'],
  ['a key without permission', { kind: 'forbidden' }, 'login_expired'],
  ['an unknown model', { kind: 'model_not_found' }, 'model_not_found'],
  ['a quota that is used up', { kind: 'usage_limit', resetAt: soon }, 'usage_limit', soon],
  ['a quota that is used up, without its reset', { kind: 'usage_limit' }, 'usage_limit'],
  ['a bare 429', { kind: 'raw', status: 429, body: 'slow down' }, 'usage_limit'],
  ['too much load', { kind: 'overloaded' }, 'overloaded'],
  ['529', { kind: 'raw', status: 529, body: '{"error":{"message":"Overloaded"}}' }, 'overloaded'],
  ['a context that is full', { kind: 'context_overflow' }, 'context_overflow'],
  ['a stream that is cut', { kind: 'cut', when: 'within' }, 'network'],
  ['a connection that is cut', { kind: 'cut', when: 'before' }, 'network'],
]);

it('a model that stays silent is left waiting: only the deadline or the stall ends it', async () => {
  const { session, name } = await rig.start([{ fault: { kind: 'hang', when: 'within' } }]);
  await rig.server.until('the request', () => rig.requestsOf(name).length > 0);
  expect((await session.end()).cause).toBe('ended');
});
