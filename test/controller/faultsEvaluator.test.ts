import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { runFiles } from '../../src/ledger/places.ts';
import { holding, programsOf, startFaultRun, type FaultRun } from '../rig/faultRun.ts';

/** The recorded outputs of a run's evaluations, bytes. */
const outputSizes = (run: FaultRun): number[] => {
  const folder = runFiles(run.runFolder).evaluations;
  return readdirSync(folder).map(
    (name) => statSync(join(folder, name, 'runner', 'output.log'), { throwIfNoEntry: false })?.size ?? 0,
  );
};

describe('an evaluator that misbehaves', () => {
  it('never counts, is told apart from a wrong candidate, and leaves nothing running', async () => {
    await using run = await startFaultRun(
      {
        ...holding,
        contract: {
          policy: { cap: 'none' },
          evaluate: { command: [process.execPath, 'evaluate.mjs'], timeout: '12s' },
          limits: { diskFloor: '1MB', output: '1MiB' },
          metric: { name: 'number', direction: 'maximize', range: [0, 100] },
        },
        // nothing at the start works, so that the first crash is the evaluator's own
      },
      { prepare: ({ workspace }) => writeFileSync(join(workspace, 'candidate.txt'), 'nothing\n') },
    );
    await run.open(1);
    const submit = (text: string) => run.submit(1, text);
    expect(await submit('crash')).toMatchObject({
      id: 'e1',
      outcome: 'rejected',
      code: 'evaluator_error',
      reason: expect.stringMatching(/exited with code 3.*nor on earlier files/),
    });
    expect(await submit('1')).toMatchObject({ id: 'e2', outcome: 'accepted', score: 1 });
    expect(await submit('nothing')).toMatchObject({
      outcome: 'rejected',
      code: 'invalid',
      reason: expect.stringMatching(
        /no result on these files \(no result in \$HMA_RESULT: it was not written[^)]*\), but did on earlier ones/,
      ),
    });
    expect(await submit('nan')).toMatchObject({ code: 'non_finite', reason: 'the score was NaN' });
    expect(await submit('infinity')).toMatchObject({ code: 'non_finite', reason: 'the score was Infinity' });
    expect(await submit('two')).toMatchObject({
      code: 'invalid',
      reason: expect.stringContaining('more than one JSON document; write exactly one'),
    });
    expect(await submit('incorrect')).toMatchObject({ code: 'incorrect' });
    expect(await submit('invalid:wrong shape')).toMatchObject({ code: 'invalid', reason: 'wrong shape' });
    expect(await submit('101')).toMatchObject({ outcome: 'accepted', score: 101 });
    expect(await submit('loud')).toMatchObject({ outcome: 'accepted', score: 1 });
    expect(Math.max(...outputSizes(run))).toBeLessThan(1.2 * 1024 * 1024);
    expect(await submit('hang')).toMatchObject({ code: 'timeout', reason: 'no verdict within 12 s' });
    expect(programsOf(run.folders.root).filter((command) => /setInterval|evaluate\.mjs/.test(command))).toEqual([]);
    const { archive, experiments } = run.client.state ?? { archive: [], experiments: [] };
    expect(archive.map(({ id, score, flags }) => ({ id, score, flags }))).toEqual([
      { id: 'e2', score: 1, flags: [] },
      { id: 'e9', score: 101, flags: ['out_of_range'] },
      { id: 'e10', score: 1, flags: [] },
    ]);
    expect(experiments).toHaveLength(11);
  });

  it('in exclusive mode it has the machine for itself, and the median of its repeats counts', async () => {
    // it waits for the session's shell to be stopped, and says so when it isn't; each run gives another score
    const program = `
      import { appendFileSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
      const root = process.env.HMA_WORKSPACE.replace(/\\/workspace$/, '');
      const isSession = (pid) => { try { return readFileSync('/proc/' + pid + '/cmdline', 'utf8').includes(root + '/scripts/alpha.sh'); } catch { return false; } };
      const holder = readdirSync('/proc').find((name) => /^\\d+$/.test(name) && isSession(name));
      const state = () => readFileSync('/proc/' + holder + '/stat', 'utf8').split(') ')[1][0];
      const limit = Date.now() + 20000;
      while (holder && state() !== 'T' && Date.now() < limit) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      appendFileSync(root + '/runs', 'x');
      const score = [50, 10, 30][statSync(root + '/runs').size - 1];
      writeFileSync(process.env.HMA_RESULT, JSON.stringify(holder && state() === 'T' ? { score } : { invalid: 'the session runs: ' + holder }));
    `;
    await using run = await startFaultRun(
      {
        A: { '1.1': 'submit 1; hold' },
        B: {},
        contract: {
          policy: { cap: 'none' },
          evaluate: { command: [process.execPath, 'exclusive.mjs'], timeout: '30s', exclusive: true, repeats: 3 },
        },
      },
      {
        before: ({ workspace, root }) => (
          writeFileSync(join(workspace, 'exclusive.mjs'), program),
          writeFileSync(join(root, 'runs'), '')
        ),
      },
    );
    await run.open(1);
    const state = await run.client.until(
      'the verdict',
      ({ experiments }) => experiments[0]?.state === 'accepted' || experiments[0]?.state === 'rejected',
    );
    expect(state.experiments[0]).toMatchObject({ state: 'accepted', score: 30, evaluations: [{}, {}, {}] });
    expect(await run.hma(1, 'status', '--json')).toMatchObject({ exit: 0 });
  });
});
