import { afterEach, expect, it } from 'vitest';

import { codexAdapter } from '../../../src/agents/codex/adapter.ts';
import type { Failure, FailureReason } from '../../../src/agents/port.ts';
import { sumOf } from '../responses.ts';
import { startModelServer, type Fault, type Step } from '../../rig/modelServer.ts';
import { startRealSession, type RealSession } from '../realSession.ts';

const opened: { session: RealSession; server: AsyncDisposable }[] = [];
afterEach(async () => {
  for (const { session, server } of opened.splice(0)) {
    await session.end();
    session.close();
    await server[Symbol.asyncDispose]();
  }
});

/** Starts a session whose model answers with these steps. */
async function meets(steps: readonly Step[], settings?: Readonly<Record<string, unknown>>) {
  const server = await startModelServer({ s: steps });
  const session = await startRealSession({
    adapter: codexAdapter,
    tier: 'none',
    agent: { model: 'gpt-5.3-codex', baseUrl: `${server.url('s')}/v1`, permissions: 'bypass' },
    ...(settings && { settings }),
  });
  opened.push({ session, server });
  return { session, server };
}

/** What the adapter makes of a session whose first request meets a fault. */
async function failureOf(fault: Fault, settings?: Readonly<Record<string, unknown>>): Promise<Failure | null> {
  const { session } = await meets([{ fault }], settings);
  return session.failure(await session.ended());
}

const soon = Math.ceil(Date.now() / 1000) * 1000 + 3_600_000;

const cases: readonly { what: string; fault: Fault; reason: FailureReason; resetAt?: number }[] = [
  { what: 'a key that is none', fault: { kind: 'invalid_key' }, reason: 'login_expired' },
  { what: 'a login that is over', fault: { kind: 'login_expired' }, reason: 'login_expired' },
  { what: 'a key without permission', fault: { kind: 'forbidden' }, reason: 'login_expired' },
  { what: 'an unknown model', fault: { kind: 'model_not_found' }, reason: 'model_not_found' },
  {
    what: 'a plan that is used up',
    fault: { kind: 'usage_limit', resetAt: soon },
    reason: 'usage_limit',
    resetAt: soon,
  },
  { what: 'a plan that is used up, without its reset', fault: { kind: 'usage_limit' }, reason: 'usage_limit' },
  { what: 'no credit', fault: { kind: 'no_credit' }, reason: 'usage_limit' },
  { what: 'a bare 429', fault: { kind: 'raw', status: 429, body: 'slow down' }, reason: 'usage_limit' },
  { what: 'too much load', fault: { kind: 'overloaded' }, reason: 'overloaded' },
  {
    what: '529',
    fault: { kind: 'raw', status: 529, body: '{"error":{"message":"Overloaded"}}' },
    reason: 'overloaded',
  },
  { what: 'a context that is full', fault: { kind: 'context_overflow' }, reason: 'context_overflow' },
  { what: 'a stream that is cut', fault: { kind: 'cut', when: 'within' }, reason: 'network' },
];

it.each(cases)('$what is $reason', async ({ fault, reason, resetAt }) => {
  const failure = await failureOf(fault);
  expect(failure).toEqual({
    reason,
    detail: expect.stringMatching(/^Codex: ./u) as string,
    // what is told in words is told to the minute
    ...(resetAt !== undefined && {
      resetAt: expect.toSatisfy((at: number) => Math.abs(at - resetAt) <= 60_000) as number,
    }),
  });
});

it('a network that does not come back is given up', async () => {
  const failure = await failureOf({ kind: 'cut', when: 'before' }, { patienceMs: 4000 });
  expect(failure).toMatchObject({ reason: 'network' });
});

it('a rate limit with a long wait is given up', async () => {
  const failure = await failureOf({ kind: 'rate_limited', retryAfter: 3600 }, { patienceMs: 4000 });
  expect(failure).toMatchObject({ reason: 'usage_limit' });
});

it('a hiccup is survived', async () => {
  const { session, server } = await meets([{ text: 'Done.', fault: { kind: 'unavailable' }, faultTimes: 2 }]);
  const exit = await session.ended();
  expect(session.failure(exit)).toBeNull();
  expect(sumOf(await session.responses())).toEqual(server.sent('s'));
});
