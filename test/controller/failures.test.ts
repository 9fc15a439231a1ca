import { expect, it } from 'vitest';

import { startRun } from '../../src/controller/launch.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { endAll, eventsOf, followRun, startTestRun, type TestRun } from '../rig/run.ts';
import { layOutTask, testFolders, type Plan } from '../rig/task.ts';

/** A session that gives up as a harness does whose provider says no; a limit that is over so many ms later. */
const fails = (reason: string, ...resetIn: readonly number[]): Plan[string] => [
  { fail: [reason, ...resetIn] },
  { exit: 1 },
];
const limit = (afterMs: number): Plan[string] => fails('usage_limit', afterMs);

const events = (run: TestRun): readonly RunEvent[] => eventsOf(run.runFolder) as readonly RunEvent[];
function first<Type extends RunEvent['type']>(run: TestRun, type: Type): Extract<RunEvent, { type: Type }> {
  const found = events(run).find((event) => event.type === type);
  if (!found) throw new Error(`there was no ${type}: ${run.log()}`);
  return found as Extract<RunEvent, { type: Type }>;
}
const contract = (failures: unknown, more: object = {}) => ({
  policy: { cap: 1 },
  budgets: { total: '2m', review: '5s', experiments: 1 },
  failures,
  ...more,
});

it('a usage limit is waited for until its reset, and not before it', async () => {
  await using run = await startTestRun({
    A: { '1.1': limit(3000), '1.2': [{ submit: 1 }] },
    B: {},
    contract: contract({ attempts: 2, wait: '100ms' }),
  });
  const state = await run.finished(90_000);
  expect(state.archive).toHaveLength(1);
  const attempts = state.options[0]?.attempts ?? [];
  expect(attempts).toMatchObject([{ failure: { reason: 'usage_limit' } }, { state: 'ended' }]);
  const told = first(run, 'attempt.ended').data.failure?.resetAt ?? Infinity;
  const again = events(run).findLast(({ type }) => type === 'attempt.starting');
  expect(again?.wall).toBeGreaterThanOrEqual(told - 1);
  expect(state.pausedMs).toBe(0);
});

it('with pauseClock the run pauses until then and goes on by itself; its clock stood', async () => {
  await using run = await startTestRun({
    A: { '1.1': limit(6000), '1.2': [{ submit: 1 }] },
    B: {},
    contract: contract({ attempts: 2, wait: '100ms', usageLimit: { then: 'wait', pauseClock: true } }),
  });
  const state = await run.finished(90_000);
  const [paused, resumed] = [first(run, 'run.paused'), first(run, 'run.resumed')];
  expect(paused.data).toMatchObject({ reason: 'usage_limit', by: 'hma' });
  expect(resumed.data.by).toBe('hma');
  expect(resumed.wall).toBeGreaterThanOrEqual(paused.data.until ?? Infinity);
  expect(resumed.active).toBe(paused.active);
  expect(state.options.map(({ agent, accepted }) => ({ agent, accepted }))).toEqual([{ agent: 'A', accepted: ['e1'] }]);
});

it('a limit that lasts beyond the end of exploration hands over at once', async () => {
  await using run = await startTestRun({
    A: { '1.1': limit(600_000) },
    B: { '2.1': [{ submit: 1 }] },
    contract: contract({ attempts: 3, wait: '100ms' }),
  });
  const state = await run.finished(90_000);
  expect(state.options.map(({ agent, closure }) => ({ agent, closure }))).toEqual([
    { agent: 'A', closure: 'failed' },
    { agent: 'B', closure: 'cap' },
  ]);
});

it('when both agents are out the run pauses until the earliest reset, and goes on by itself', async () => {
  await using run = await startTestRun({
    A: { '1.1': limit(600_000) },
    B: { '2.1': limit(8000), '2.2': [{ submit: 1 }] },
    contract: contract({ attempts: 2, wait: '100ms', usageLimit: 'handover' }),
  });
  const state = await run.finished(90_000);
  const [paused, resumed] = [first(run, 'run.paused'), first(run, 'run.resumed')];
  const resets = events(run).flatMap((event) =>
    event.type === 'attempt.ended' ? (event.data.failure?.resetAt ?? []) : [],
  );
  expect(paused.data.until).toBe(Math.min(...resets));
  expect(resumed.data.by).toBe('hma');
  expect(state.options.map(({ agent, closure, attempts }) => ({ agent, closure, attempts: attempts.length }))).toEqual([
    { agent: 'A', closure: 'failed', attempts: 1 },
    { agent: 'B', closure: 'cap', attempts: 2 },
  ]);
});

it('both logins expired: a person is asked, and told what to do', async () => {
  await using run = await startTestRun({
    A: { default: fails('login_expired') },
    B: { default: fails('login_expired') },
    contract: contract({ attempts: 3, wait: '100ms' }),
  });
  const state = await run.client.until('a pause', ({ pause }) => pause !== null, 60_000);
  expect(state.pause).toMatchObject({ reason: 'agent_failed' });
  expect(state.pause?.until).toBeUndefined();
  expect(state.pause?.detail).toContain('sign in again');
  expect(state.options.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
});

it('another model than asked for is noticed, once', async () => {
  const response = (id: string) => ({ say: JSON.stringify({ type: 'hma.response', id, model: 'tiny-1', output: 5 }) });
  const folders = testFolders();
  const loaded = await layOutTask(folders, {
    A: { '1.1': [response('r1'), response('r2'), { submit: 1 }] },
    B: {},
    contract: contract({ attempts: 1, wait: 0 }),
  });
  const asked = { ...loaded, agents: { ...loaded.agents, A: { ...loaded.agents.A, model: 'large-1' } } };
  const started = await startRun({
    workspace: folders.workspace,
    contract: asked,
    home: folders.home,
    env: process.env,
  });
  if (!started.ok) throw new Error(started.refusal.text);
  await using run = followRun(folders, started.value);
  const state = await run.finished(90_000);
  const notices = state.notices.filter(({ code }) => code === 'model_differs');
  expect(notices).toMatchObject([{ level: 'warning' }]);
  expect(notices[0]?.text).toContain('tiny-1 answered in option 1, attempt 1, where large-1 was asked for');
});

it('a question that nobody can answer is shown, and the session ended as stalled', async () => {
  await using run = await startTestRun({
    A: { default: [{ say: 'Do you want to proceed? (y/n)' }, { hold: 600 }] },
    B: { default: [{ submit: 1 }] },
    contract: { ...contract({ attempts: 1, wait: 0 }), stall: '3s' },
  });
  const state = await run.finished(90_000);
  expect(state.notices.filter(({ code }) => code === 'permission_prompt')).toMatchObject([{ level: 'person' }]);
  expect(state.options[0]).toMatchObject({ closure: 'stalled' });
  expect(state.options[0]?.attempts[0]).toMatchObject({
    failure: {
      reason: 'stall',
      detail: 'it waited for an answer that nobody could give: Do you want to proceed? (y/n)',
    },
  });
});

it('agents that never ask, without isolation, start only after a yes to just that', async () => {
  const folders = testFolders();
  try {
    const loaded = await layOutTask(folders, {
      A: { default: [{ submit: 1 }] },
      B: {},
      contract: contract({ attempts: 1, wait: 0 }),
    });
    const bypassing = {
      ...loaded,
      agents: { ...loaded.agents, A: { ...loaded.agents.A, permissions: 'bypass' as const } },
    };
    const given = { workspace: folders.workspace, contract: bypassing, home: folders.home, env: process.env };
    const refused = await startRun(given);
    expect(refused).toMatchObject({ ok: false, refusal: { reason: 'bypass' } });
    expect(refused.ok ? '' : refused.refusal.text).toContain('without asking');
    const started = await startRun({ ...given, acceptBypass: true });
    expect(started.ok).toBe(true);
    const noticed = started.ok ? (eventsOf(started.value.runFolder) as readonly RunEvent[]) : [];
    expect(noticed.filter(({ type }) => type === 'run.noticed')).toMatchObject([{ data: { code: 'bypass' } }]);
  } finally {
    await endAll(folders.root);
    folders[Symbol.dispose]();
  }
});
