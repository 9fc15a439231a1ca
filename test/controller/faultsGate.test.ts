import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { sessionExit } from '../../src/protocol/agent.ts';
import { bundleFolder } from '../../src/controller/runtime.ts';
import { eventsOf } from '../rig/run.ts';
import { holding, startFaultRun } from '../rig/faultRun.ts';

const answers = new Set<number | null>([sessionExit.accepted, sessionExit.rejected, sessionExit.refused]);

describe('many submissions at once', () => {
  it('forty processes, the controller killed among them: exactly k are accepted and every process gets an answer', async () => {
    await using run = await startFaultRun({ ...holding, contract: { policy: { cap: 3 } } });
    await run.open(1);
    // the file changes under the forty, so that they submit different ones
    let value = 0;
    const write = (): void => {
      writeFileSync(join(run.folders.workspace, 'candidate.new'), `${++value}\n`);
      renameSync(join(run.folders.workspace, 'candidate.new'), join(run.folders.workspace, 'candidate.txt'));
    };
    const writing = setInterval(write, 100);
    try {
      const calls = Array.from({ length: 40 }, () => run.hma(1, 'submit', '--json', '--wait', '100'));
      await run.client.until('a first submission', ({ experiments }) => experiments.length > 0);
      process.kill(run.pids().controller, 'SIGKILL');
      const said = await Promise.all(calls);
      expect(said.filter(({ exit }) => !answers.has(exit))).toEqual([]);
      clearInterval(writing);
      // equal files are one experiment, and on a busy machine many of the forty read the same: the rest of the cap is used up here
      for (let more = 1; (run.client.state?.archive.length ?? 0) < 3; more++) await run.submit(1, String(1e6 + more));
      const state = await run.client.until('the next option', ({ options }) => options.length === 2);
      expect(state.controller.starts).toBe(2);
      expect(state.options[0]).toMatchObject({
        closure: 'cap',
        accepted: [expect.any(String), expect.any(String), expect.any(String)],
      });
      expect(state.archive.map(({ author, option }) => ({ author, option }))).toEqual(
        Array.from({ length: 3 }, () => ({ author: 'A', option: 1 })),
      );
      const told = said
        .filter(({ exit }) => exit === sessionExit.accepted)
        .map(({ out }) => (JSON.parse(out.trim().split('\n').at(-1) ?? '') as { id: string }).id);
      const archived = new Set(state.archive.map(({ id }) => id));
      expect(told.filter((id) => !archived.has(id))).toEqual([]);
      expect(
        state.experiments.filter((e) => e.state === 'rejected' && !['cap_reached', 'unstable'].includes(e.code)),
      ).toEqual([]);
      expect(eventsOf(run.runFolder).filter(({ type }) => type === 'experiment.accepted')).toHaveLength(3);
    } finally {
      clearInterval(writing);
    }
  });
});

describe('a call that comes at the wrong time', () => {
  it('after the end of its option, from its leftovers, without a session, or of another option: refused in words', async () => {
    await using run = await startFaultRun({ ...holding, contract: { policy: { cap: 1 } } });
    await run.open(1);
    const stale = run.sessionEnvironment(1);
    expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted', id: 'e1' });
    await run.open(2);
    expect(await run.submit(1, '2')).toEqual({
      refused: { code: 'not_your_turn', reason: 'this session is not the one whose turn it is' },
    });
    expect(await run.hma(1, 'result', 'e1')).toMatchObject({
      exit: sessionExit.refused,
      err: expect.stringContaining('this session is over'),
    });
    // a process of the first option that got away, with the whole old environment, while the second works
    const leftover = spawn(process.execPath, [join(bundleFolder(), 'session.js'), 'submit', '--json'], {
      env: stale,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(await once(leftover, 'exit')).toEqual([sessionExit.refused, null]);
    // another option's experiment is none of its own
    expect(await run.hma(2, 'result', 'e1')).toMatchObject({
      exit: sessionExit.refused,
      err: expect.stringContaining('this session has no experiment e1'),
    });
    expect(await run.submit(2, '2')).toMatchObject({ outcome: 'accepted', id: 'e2' });
    expect(run.client.state?.archive.map(({ id, author, option }) => ({ id, author, option }))).toEqual([
      { id: 'e1', author: 'A', option: 1 },
      { id: 'e2', author: 'B', option: 2 },
    ]);
    await run.open(3);
    await run.client.intend({ kind: 'stop', by: 'test' });
    await run.finished();
    expect(await run.submit(3, '9')).toMatchObject({ refused: { code: 'not_your_turn', reason: 'the run is over' } });
  });

  it('a client that is killed before its answer: asking again gives the same id, and nothing is counted twice', async () => {
    await using run = await startFaultRun({ ...holding, contract: { policy: { cap: 'none' } } });
    await run.open(1);
    writeFileSync(join(run.folders.workspace, 'candidate.txt'), 'slow5\n');
    const first = spawn(process.execPath, [join(bundleFolder(), 'session.js'), 'submit', '--wait', '100'], {
      env: run.sessionEnvironment(1),
      stdio: 'ignore',
    });
    await run.client.until('the commit', ({ experiments }) => experiments.length === 1);
    first.kill('SIGKILL');
    expect(await run.submit(1, 'slow5')).toMatchObject({ id: 'e1', outcome: 'accepted', score: 7 });
    // and once more after the verdict
    expect(await run.submit(1, 'slow5')).toMatchObject({ id: 'e1', outcome: 'accepted' });
    expect(run.client.state?.experiments).toHaveLength(1);
  });
});

describe('submissions that are undecided when exploration ends', () => {
  it('stop: running and queued ones are cancelled, their program is gone, nothing is lost', async () => {
    await using run = await startFaultRun({ ...holding, contract: { policy: { cap: 'none' } } });
    await run.open(1);
    expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });
    for (const text of ['slow1000', '2', '3']) {
      writeFileSync(join(run.folders.workspace, 'candidate.txt'), `${text}\n`);
      expect(await run.hma(1, 'submit', '--wait', '0')).toMatchObject({ exit: sessionExit.pending });
    }
    expect(await run.person('stop', '--yes')).toMatchObject({ exit: 0 });
    const state = await run.finished();
    expect(state.experiments.map((e) => (e.state === 'rejected' ? e.code : e.state))).toEqual([
      'accepted',
      'cancelled',
      'cancelled',
      'cancelled',
    ]);
    expect(state.selections).toMatchObject([{ candidate: 'e1', by: 'fallback' }]);
    expect(state.review).toMatchObject({ outcome: 'skipped' });
    expect(run.client.state?.options[0]?.closure).toBe('stopped');
  });

  it('deadline: running and queued ones are late by default', async () => {
    await using run = await startFaultRun({
      ...holding,
      contract: { policy: { cap: 'none' }, budgets: { total: '60m', review: '10s' } },
    });
    await run.open(1);
    writeFileSync(join(run.folders.workspace, 'candidate.txt'), 'slow1000\n');
    expect(await run.hma(1, 'submit', '--wait', '0')).toMatchObject({ exit: sessionExit.pending });
    const { active } = await run.client
      .until('the evaluation to run', ({ experiments }) => experiments[0]?.state === 'evaluating')
      .then(() => run.client.events.at(-1) ?? { active: 0 });
    expect(await run.client.intend({ kind: 'budget', totalMs: Math.round(active + 13_000), by: 'test' })).toMatchObject(
      { done: true },
    );
    const state = await run.finished();
    expect(state.experiments).toMatchObject([{ state: 'rejected', code: 'late' }]);
    expect(state.options[0]).toMatchObject({ closure: 'deadline', accepted: [] });
  });

  it('deadline with lateRule submitted: what was submitted in time may be judged inside the grace', async () => {
    await using run = await startFaultRun({
      ...holding,
      contract: {
        policy: { cap: 'none' },
        budgets: { total: '60m', review: '50s' },
        lateRule: { rule: 'submitted', grace: '20s' },
      },
    });
    await run.open(1);
    writeFileSync(join(run.folders.workspace, 'candidate.txt'), 'slow10\n');
    expect(await run.hma(1, 'submit', '--wait', '0')).toMatchObject({ exit: sessionExit.pending });
    await run.client.until('the evaluation to run', ({ experiments }) => experiments[0]?.state === 'evaluating');
    const { active } = run.client.events.at(-1) ?? { active: 0 };
    expect(await run.client.intend({ kind: 'budget', totalMs: Math.round(active + 53_000), by: 'test' })).toMatchObject(
      { done: true },
    );
    const state = await run.client.until(
      'the verdict',
      ({ experiments }) => experiments[0]?.state === 'accepted' || experiments[0]?.state === 'rejected',
    );
    expect(state.experiments).toMatchObject([{ state: 'accepted', score: 7 }]);
    const { explorationEndedAt, archive, options } = await run.client.until(
      'the end of exploration',
      (now) => now.explorationEndedAt !== null,
    );
    expect(options[0]?.closure).toBe('deadline');
    expect(archive[0]?.acceptedAt).toBeGreaterThan(options[0]?.endingAt ?? Infinity);
    expect(explorationEndedAt).toBeGreaterThan(archive[0]?.acceptedAt ?? Infinity);
  });
});
