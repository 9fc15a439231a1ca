import { expect, it } from 'vitest';

import { attach } from '../../src/client/connection.ts';
import { reviveRun } from '../../src/controller/launch.ts';
import type { Intent } from '../../src/protocol/client.ts';
import { finalCandidate } from '../../src/review/selection.ts';
import { record, standing } from '../../src/archive/order.ts';
import { startTestRun, type TestRun } from '../rig/run.ts';

const by = 'kim';

/** Asks the finished run's controller, bringing one back where it has left. */
async function ask(run: TestRun, intent: Intent) {
  let connection = await attach(run.runFolder);
  if (!connection) {
    const revived = await reviveRun({ runFolder: run.runFolder, env: process.env });
    if (!revived.ok) throw new Error(revived.refusal.text);
    connection = await attach(run.runFolder);
  }
  if (!connection) throw new Error('no controller');
  const reply = await connection.intend(intent);
  connection.close();
  return reply;
}

it('after the end candidates are graded and evaluated again, one after the other, through a kill; a disqualified one is never final', async () => {
  const grader =
    "const f = require('fs'); const e = process.env; f.writeFileSync(e.HMA_RESULT, JSON.stringify({ score: 10 * Number(f.readFileSync(e.HMA_CANDIDATE + '/candidate.txt', 'utf8')) }))";
  await using run = await startTestRun({
    A: { 1: [{ submit: 1 }, { submit: 5 }], review: [{ nominate: 'e2' }] },
    B: { 2: [{ submit: 3 }], review: [{ nominate: 'e2' }] },
    contract: {
      budgets: { total: '5m', review: '60s', experiments: 3 },
      policy: { cap: 2 },
      grade: { command: [process.execPath, '-e', grader], timeout: '20s' },
    },
  });
  expect(await ask(run, { kind: 'grade', candidates: [], again: false, by })).toMatchObject({ reason: 'not_over' });
  const done = await run.finished(120_000);
  expect(finalCandidate({ ...done, ...done.terms })).toMatchObject({ candidate: 'e2', by: 'reviewer' });
  const grades = (state = run.client.state) =>
    state?.archive.map(({ grade }) => (grade?.kind === 'graded' ? grade.grade : null));
  expect(grades()).toEqual([null, 50, 30]); // by default the final one, the record, the standing one

  expect(await ask(run, { kind: 'grade', candidates: ['e9'], again: false, by })).toMatchObject({
    reason: 'unknown_candidate',
  });
  expect(await ask(run, { kind: 'grade', candidates: [], again: false, by })).toMatchObject({ done: true });
  expect(await ask(run, { kind: 'reevaluate', candidate: 'e1', times: 3, by })).toMatchObject({ done: true });
  await run.client.until('one more evaluation', (state) => (state.archive[0]?.reevaluations?.length ?? 0) >= 1, 60_000);
  process.kill(run.client.state?.controller.pid ?? 0, 'SIGKILL');
  const after = await run.client.until('all errands', (state) => state.errands.length === 0, 60_000);
  expect(grades(after)).toEqual([10, 50, 30]);
  expect(after.archive[0]).toMatchObject({ score: 1 });
  expect(after.archive[0]?.reevaluations?.map(({ verdict }) => verdict)).toEqual([
    { kind: 'scored', score: 1 },
    { kind: 'scored', score: 1 },
    { kind: 'scored', score: 1 },
  ]);
  const versions = after.archive.map(({ grade }) => grade?.grader);
  expect(new Set(versions).size).toBe(1);
  expect(versions[0]).toMatch(/^[0-9a-f]{16}$/);

  expect(
    await ask(run, { kind: 'disqualify', candidate: 'e2', undo: false, reason: 'it read the labels', by }),
  ).toMatchObject({ done: true });
  const judged = await run.client.until(
    'the disqualification',
    ({ archive }) => archive[1]?.disqualified !== undefined,
  );
  expect([standing(judged.archive)?.id, record(judged.archive, judged.terms.metric)?.id]).toEqual(['e3', 'e3']);
  expect(finalCandidate({ ...judged, ...judged.terms })).toMatchObject({ candidate: 'e3', by: 'fallback' });
  expect(await ask(run, { kind: 'select', candidate: 'e2', reason: 'still', by })).toMatchObject({
    reason: 'disqualified',
  });
  await ask(run, { kind: 'disqualify', candidate: 'e2', undo: true, reason: 'a mistake', by });
  const again = await run.client.until('its return', ({ archive }) => archive[1]?.disqualified === undefined);
  expect(finalCandidate({ ...again, ...again.terms })).toMatchObject({ candidate: 'e2', by: 'reviewer' });
});
