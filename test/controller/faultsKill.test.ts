import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import type { RunEvent } from '../../src/run/events.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { eventsOf, processesOf } from '../rig/run.ts';
import { eventually, powerCut, revive, startFaultRun, testClock, type FaultRun } from '../rig/faultRun.ts';

const attempts = { A: { '1.1': 'hold', '1.2': 'hold', '1.3': 'hold' }, B: { '2.1': 'hold' } };

/** The process id of the runner of an experiment's latest evaluation, and of its program. */
async function evaluatorOf(run: FaultRun, id: string): Promise<{ runner: number; program: number }> {
  const state = await run.client.until(
    'the evaluation to run',
    ({ experiments }) => experiments.find((e) => e.id === id)?.state === 'evaluating',
  );
  const nonce = state.experiments.find((e) => e.id === id)?.evaluations.at(-1)?.nonce ?? '';
  const file = join(runFiles(run.runFolder).evaluations, `${id}-${nonce}`, 'runner', 'program.json');
  return await eventually('the evaluator to run', () => {
    try {
      const record = JSON.parse(readFileSync(file, 'utf8')) as { program: { pid: number } };
      const claim = JSON.parse(readFileSync(join(file, '..', 'runner.json'), 'utf8')) as { runner: { pid: number } };
      return { runner: claim.runner.pid, program: record.program.pid };
    } catch {
      return undefined; // not written yet
    }
  });
}

const runnerOf = (run: FaultRun): number => {
  const attempt = run.client.state?.options.at(-1)?.attempts.at(-1);
  if (attempt?.state !== 'running') throw new Error('no attempt runs');
  return attempt.runner.pid;
};

describe('kill -9', () => {
  it('of keeper, controller, evaluator and runner: each comes back, and nothing is lost or counted twice', async () => {
    await using run = await startFaultRun({ ...attempts, contract: { policy: { cap: 'none' } } });
    await run.open(1);
    const first = run.pids();
    expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });

    // the keeper: its controller starts another one, which adopts it
    process.kill(first.keeper, 'SIGKILL');

    // the evaluator's runner: its program is ended, and the evaluation is done once more
    const pending = run.submit(1, 'slow3');
    const evaluator = await evaluatorOf(run, 'e2');
    process.kill(evaluator.runner, 'SIGKILL');
    expect(await pending).toMatchObject({ id: 'e2', outcome: 'accepted', score: 7 });
    expect(run.client.state?.experiments[1]?.evaluations.map(({ verdict }) => verdict?.kind)).toEqual([
      'lost',
      'scored',
    ]);
    expect(processesOf(run.folders.root).filter(({ pid }) => pid === evaluator.program)).toEqual([]);

    // the evaluator itself, without its runner: it is run once more too
    const killed = run.submit(1, 'slow4');
    process.kill((await evaluatorOf(run, 'e3')).program, 'SIGKILL');
    expect(await killed).toMatchObject({ id: 'e3', outcome: 'accepted' });
    expect(run.client.state?.experiments[2]?.evaluations.map(({ verdict }) => verdict?.kind)).toEqual([
      'lost',
      'scored',
    ]);

    // the keeper is back before its controller dies: the one adopted, the other started again
    const second = await eventually('another keeper', () => run.pids().keeper !== first.keeper && run.pids());
    expect(second.controller).toBe(first.controller);
    const session = runnerOf(run);
    process.kill(second.controller, 'SIGKILL');
    await run.client.until('another controller', ({ controller }) => controller.starts === 2);
    expect(await run.submit(1, '2')).toMatchObject({ id: 'e4', outcome: 'accepted' });
    expect(runnerOf(run)).toBe(session);

    // the session's runner: its program is ended, and the option gets another attempt
    const programs = processesOf(run.folders.root).filter(
      ({ command }) => command.includes('sleep 10000') || command.includes('alpha.sh'),
    );
    process.kill(session, 'SIGKILL');
    const state = await run.client.until(
      'another attempt',
      ({ options }) => options[0]?.attempts[1]?.state === 'running',
    );
    expect(state.options[0]?.attempts[0]).toMatchObject({
      state: 'ended',
      failure: { reason: 'runner_lost', detail: 'its runner vanished (killed, or the machine restarted)' },
    });
    expect(processesOf(run.folders.root).filter(({ pid }) => programs.some((one) => one.pid === pid))).toEqual([]);
    expect(await run.submit(1, '3')).toMatchObject({ id: 'e5', outcome: 'accepted' });
    expect(run.client.state?.archive.map(({ id, author }) => id + author)).toEqual(['e1A', 'e2A', 'e3A', 'e4A', 'e5A']);
    expect(run.client.state?.options).toHaveLength(1);
  });
});

describe('a reboot', () => {
  it('everything is gone and the boot is another: the run goes on, the gap is no active time, the evaluation is done once more', async () => {
    const clock = testClock(`/tmp/hma-clock-${process.pid}`);
    try {
      await using run = await startFaultRun(
        { ...attempts, contract: { policy: { cap: 'none' }, budgets: { total: '60m', review: '5m' } } },
        { env: clock.env },
      );
      await run.open(1);
      expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });
      writeFileSync(join(run.folders.workspace, 'candidate.txt'), 'slow2\n');
      await run.hma(1, 'submit', '--wait', '0');
      await evaluatorOf(run, 'e2');
      await powerCut(run);
      const before = eventsOf(run.runFolder).at(-1)?.active ?? 0;
      // the new boot's monotonic clock begins far below the old one's, and an hour of wall time has passed
      clock.shift({ boot: 'the second boot', mono: -3_000_000, wall: 3_600_000 });
      expect(await revive(run, { env: clock.env })).toBe('taken up');
      const state = await run.client.until(
        'the experiment of before',
        ({ experiments }) => experiments[1]?.state === 'accepted',
      );
      expect(state.experiments[1]?.evaluations.map(({ verdict }) => verdict?.kind)).toEqual(['lost', 'scored']);
      await run.client.until('another attempt', ({ options }) => options[0]?.attempts[1]?.state === 'running');
      expect(await run.submit(1, '3')).toMatchObject({ id: 'e3', outcome: 'accepted' });
      const events = eventsOf(run.runFolder) as readonly RunEvent[];
      const restarted = events.findLast(({ type }) => type === 'controller.started');
      expect((restarted?.active ?? 0) - before).toBeGreaterThanOrEqual(0);
      expect((restarted?.active ?? 0) - before).toBeLessThan(10_000);
      expect((events.at(-1)?.active ?? 0) - before).toBeLessThan(60_000);
      expect(run.client.state?.options[0]?.attempts[0]).toMatchObject({ failure: { reason: 'runner_lost' } });
      expect(run.client.state?.archive.map(({ id }) => id)).toEqual(['e1', 'e2', 'e3']);
    } finally {
      clock.remove();
    }
  });
});
