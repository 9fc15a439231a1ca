import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { costOf, explorationUsage, sumOf } from '../../src/analysis/usage.ts';
import { tokensOf } from '../../src/options/usage.ts';
import type { RunState } from '../../src/run/model.ts';
import { ofType } from '../laws/traces.ts';
import { startFaultRun, type FaultRun } from '../rig/faultRun.ts';
import { eventsOf } from '../rig/run.ts';

const ids = (run: FaultRun): string[] =>
  ofType(eventsOf(run.runFolder), 'attempt.responded').flatMap(({ data }) => data.responses.map(({ id }) => id));
const used = (state: RunState): number => tokensOf(sumOf(explorationUsage(state)));
/** Shell: waits for a file of the workspace. */
const waitFor = (name: string): string => `while [ ! -e "$HMA_WORKSPACE/${name}" ]; do sleep 0.1; done`;
const show = (run: FaultRun, name: string): void => writeFileSync(join(run.folders.workspace, name), '');

describe('what a session says of its tokens', () => {
  it('is in the ledger while it runs; once, although its controller is killed; and what it says at its end too', async () => {
    await using run = await startFaultRun({
      A: {
        '1.1': `trap 'answered last m 5 5; exit 0' TERM; answered first m 1000 40; ${waitFor('more')}; answered second m 2000 60; while :; do sleep 0.1; done`,
      },
      B: { '2.1': 'hold', review: 'exit 0' },
    });
    await run.client.until('the first response, in mid-session', (state) => used(state) === 1040);
    process.kill(run.pids().controller, 'SIGKILL');
    show(run, 'more');
    await run.client.until('the second one, from another controller', (state) => used(state) === 3100);
    expect(run.client.state?.controller.starts).toBe(2);
    await run.client.intend({ kind: 'handoff', by: 'mina' });
    const state = await run.open(2);
    expect(ids(run)).toEqual(['first', 'second', 'last']);
    expect(state.options[0]?.usage).toEqual([
      {
        model: 'm',
        responses: 3,
        uncachedInput: 3005,
        cachedInput: 0,
        cacheWrite: 0,
        output: 105,
        reasoning: 0,
        toolCalls: 0,
      },
    ]);
  });

  it('is kept when its runner is killed, and nonsense in it is no response', async () => {
    const nonsense = [
      '{"type":"hma.response","id":"negative","output":-5}',
      '{"type":"hma.response","id":"huge","output":1e300}',
      '{"type":"hma.response","id":7,"output":5}',
      '{"type":"hma.response"',
    ];
    await using run = await startFaultRun({
      A: {
        '1.1': `${nonsense.map((line) => `echo '${line}'`).join('; ')}; answered good m 10 1; hold`,
        '1.2': 'hold',
      },
      B: {},
    });
    const { options } = await run.client.until(
      'the session to run and speak',
      (state) => state.options[0]?.attempts[0]?.state === 'running' && state.options[0].attempts[0].spokeAt !== null,
    );
    const attempt = options[0]?.attempts[0];
    if (attempt?.state !== 'running') throw new Error('no runner');
    process.kill(attempt.runner.pid, 'SIGKILL');
    await run.client.until('its end', (state) => state.options[0]?.attempts[0]?.state === 'ended');
    expect(ids(run)).toEqual(['good']);
    const events = eventsOf(run.runFolder);
    const seq = (type: string): number => events.find((event) => event.type === type)?.seq ?? 0;
    expect(seq('attempt.responded')).toBeLessThan(seq('attempt.ended'));
  });
});

describe('a cap on what exploration may use', () => {
  it('tokens: the session is ended, what it submitted is still judged, and the review follows', async () => {
    await using run = await startFaultRun({
      A: { '1.1': 'submit 1; submit 2; answered r1 m 900 100; hold' },
      B: { review: 'hma nominate e1 --reason "the plan says so"; exit 0' },
      contract: { budgets: { total: '40m', review: '10m', tokens: '1k' }, policy: { cap: 5 } },
    });
    const state = await run.finished();
    expect(state.explorationEnding).toBe('budget');
    expect(state.options.map(({ closure }) => closure)).toEqual(['budget']);
    expect(state.review?.outcome).toBe('chosen');
    expect(state.finished?.reason).toBe('budget');
    expect(state.archive).toHaveLength(2);
  });

  it('money: by the user’s own prices; a model without one is not counted, and that is said', async () => {
    await using run = await startFaultRun(
      {
        A: {
          '1.1': `submit 1; answered r1 unheard 9000000 0; ${waitFor('more')}; answered r2 acme-2 100000 50000; hold`,
        },
        B: { review: 'exit 0' },
        contract: { budgets: { total: '40m', review: '10m', cost: 0.5 }, policy: { cap: 5 } },
      },
      {
        prepare({ home }) {
          const price = { input: 1, cachedInput: 0.1, output: 8, asOf: '2026-11-30', source: 'the test' };
          mkdirSync(home, { recursive: true });
          writeFileSync(join(home, 'prices.json'), JSON.stringify({ models: { 'acme-2': price } }));
        },
      },
    );
    const noticed = await run.client.until('a word about the model without a price', (state) =>
      state.notices.some(({ code }) => code === 'price_unknown'),
    );
    expect(noticed.notices.find(({ code }) => code === 'price_unknown')?.text).toMatch(
      /does not count unheard: .*prices\.json/,
    );
    expect(noticed.explorationEnding).toBeNull();
    show(run, 'more');
    const state = await run.finished();
    expect(state.options.map(({ closure }) => closure)).toEqual(['budget']);
    const prices = { 'acme-2': { input: 1, cachedInput: 0.1, output: 8, asOf: '', source: '' } };
    expect(costOf(explorationUsage(state), prices)).toEqual({ billed: 0.5, withoutCache: 0.5, unpriced: ['unheard'] });
  });
});
