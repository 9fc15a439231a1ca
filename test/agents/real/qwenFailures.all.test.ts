import { faultCases, harnessRig } from '../harnessCases.ts';
import { qwenUnderTest } from '../qwenUnderTest.ts';

const rig = harnessRig(qwenUnderTest);
const soon = Math.ceil(Date.now() / 1000) * 1000 + 3_600_000;

faultCases(qwenUnderTest, rig, [
  ['a key that is none', { kind: 'invalid_key' }, 'login_expired'],
  ['a key without permission', { kind: 'forbidden' }, 'login_expired'],
  ['an unknown model', { kind: 'model_not_found' }, 'model_not_found'],
  ['no credit', { kind: 'no_credit' }, 'usage_limit'],
  ['a rate limit', { kind: 'rate_limited' }, 'usage_limit'],
  [
    'a limit with its end',
    { kind: 'usage_limit', resetAt: soon, text: 'The usage limit has been reached. Try again in 60 minutes.' },
    'usage_limit',
    soon,
  ],
  ['too much load', { kind: 'overloaded' }, 'overloaded'],
  ['529', { kind: 'raw', status: 529, body: '{"error":{"message":"Overloaded"}}' }, 'overloaded'],
  ['a context that is full', { kind: 'context_overflow' }, 'context_overflow'],
  ['a stream that is cut', { kind: 'cut', when: 'within' }, 'network'],
]);
