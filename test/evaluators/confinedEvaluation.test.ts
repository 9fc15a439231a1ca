import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareCheckout } from '../../src/evaluators/checkout.ts';
import { forgetUid } from '../../src/machines/uidAccess.ts';
import { evaluationSpec, type EvaluationKind } from '../../src/evaluators/evaluationSpec.ts';
import type { Verdict } from '../../src/evaluators/port.ts';
import { protectFiles, type ProtectedFiles } from '../../src/evaluators/protectedFiles.ts';
import { readVerdict } from '../../src/evaluators/readVerdict.ts';
import type { Tier } from '../../src/machines/port.ts';
import type { Contract } from '../../src/task/model.ts';
import { MachineRoom, observed, running, tiersHere, uniqueSeconds } from '../machines/machineRoom.ts';
import { aContract } from './aContract.ts';
import { write } from './folders.ts';

/** An evaluator that imports candidate code and writes what that found out. */
const evaluator = `
import { writeFileSync } from 'node:fs';
import { attack } from './solution/model.mjs';
const found = await attack();
console.log(JSON.stringify(found));
writeFileSync(process.env.HMA_RESULT, JSON.stringify({ score: 1 }));
`;

/** Candidate code that tries what it must not. Each answer is what it got. */
const candidate = `
import fs from 'node:fs';
const attempt = (what) => { try { return what(); } catch (error) { return error.code; } };
export const attack = () => {
  const { HMA_WORKSPACE: workspace, HMA_CANDIDATE: here, TARGETS } = process.env;
  const { hidden, grade, state } = JSON.parse(TARGETS);
  return {
    scratch: attempt(() => (fs.writeFileSync(here + '/cache.bin', 'x'), 'written')),
    readsWorkspace: attempt(() => fs.readFileSync(workspace + '/notes.txt', 'utf8')),
    contract: attempt(() => fs.readFileSync(workspace + '/hma.yaml', 'utf8')),
    writesWorkspace: attempt(() => (fs.writeFileSync(workspace + '/planted.txt', 'x'), 'written')),
    changesWorkspace: attempt(() => (fs.appendFileSync(workspace + '/notes.txt', 'x'), 'written')),
    hidden: attempt(() => fs.readFileSync(hidden, 'utf8')),
    grade: attempt(() => fs.readFileSync(grade, 'utf8')),
    state: attempt(() => fs.readFileSync(state, 'utf8')),
  };
};
`;

describe.each(tiersHere)('an evaluation in tier %s', (tier: Tier) => {
  let room: MachineRoom;
  let protectedFiles: ProtectedFiles;
  let contract: Contract;
  let targets: { hidden: string; grade: string; state: string };

  beforeEach(async () => {
    room = new MachineRoom();
    write(room.workspace, { 'hma.yaml': 'thresholds', 'evaluate.mjs': evaluator, 'notes.txt': 'notes', 'hang.sh': '' });
    targets = {
      hidden: join(room.base, 'private', 'labels'),
      grade: join(room.base, 'grade', 'labels'),
      state: join(room.state, 'ledger'),
    };
    write(room.base, { 'private/labels': 'labels', 'grade/labels': 'final labels', 'state/ledger': 'ledger' });
    contract = aContract({
      environment: ['TARGETS'],
      evaluate: { ...aContract().evaluate, hidden: [join(room.base, 'private')] },
      grade: { command: ['node', 'evaluate.mjs'], cwd: '.', timeoutMs: 20_000, hidden: [join(room.base, 'grade')] },
    });
    const stored = await protectFiles({
      workspace: room.workspace,
      patterns: ['hma.yaml', 'evaluate.mjs'],
      store: join(room.state, 'protected'),
    });
    if (!stored.ok) throw new Error(stored.refusal.detail);
    protectedFiles = stored.value;
  });

  afterEach(async () => {
    room.close();
    // the way to a Node below a closed home was opened to this uid
    if (tier === 'uid') await forgetUid(58_902, [process.execPath]);
  });

  /** Prepares, really runs under a runner and reads one evaluation of a candidate. */
  async function evaluate(
    files: Record<string, string>,
    kind: EvaluationKind = 'evaluation',
  ): Promise<{ verdict: Verdict; output: string }> {
    const owner = tier === 'uid' ? { uid: 58_902 } : {};
    const folder = join(room.state, 'evaluation');
    const restoreCandidate = async (into: string) => void write(into, files);
    const prepared = await prepareCheckout({
      folder,
      restoreCandidate,
      protectedFiles,
      workspace: room.workspace,
      ...owner,
    });
    if (!prepared.ok) throw new Error(prepared.refusal.detail);
    const outerEnvironment = { PATH: process.env['PATH'], TARGETS: JSON.stringify(targets) };
    const hidden = [room.state, join(room.workspace, 'hma.yaml')];
    const nonce = `${room.base.slice(-6)}-evaluation`;
    const given = {
      kind,
      contract,
      nonce,
      checkout: prepared.value,
      workspace: room.workspace,
      tier,
      hidden,
      outerEnvironment,
      ...owner,
    };
    const program = await evaluationSpec(given);
    if (!program.ok) throw new Error(program.refusal.detail);
    const { spec, environment } = program.value;
    const started = await room.start(tier, spec.argv, { spec, env: { ...environment } });
    const { report } = await observed(started, 'ended');
    const outputLog = join(started.dir, 'output.log');
    const timeoutMs = spec.timeoutMs ?? 0;
    const verdict = await readVerdict({
      exit: report,
      resultFile: prepared.value.resultFile,
      outputLog,
      source: { from: 'file' },
      timeoutMs,
    });
    return { verdict, output: readFileSync(outputLog, 'utf8') };
  }

  it("gives its verdict; candidate code in it reads the evaluator's hidden files at most, and changes nothing outside", async () => {
    const { verdict, output } = await evaluate({ 'solution/model.mjs': candidate, 'evaluate.mjs': 'forged' });
    expect({ verdict, output }).toMatchObject({ verdict: { kind: 'scored', score: 1 } });
    const found = JSON.parse(output) as Record<string, string>;
    expect([found['scratch'], found['readsWorkspace'], found['hidden']]).toEqual(['written', 'notes', 'labels']);
    // without isolation nothing is promised: that is what the tier's description says
    if (tier === 'none') return;
    for (const key of ['contract', 'writesWorkspace', 'changesWorkspace', 'grade', 'state']) {
      expect(`${key}: ${found[key]}`).toMatch(/: (?:EACCES|EROFS|ENOENT|EPERM|)$/u);
    }
    expect(readFileSync(join(room.workspace, 'notes.txt'), 'utf8')).toBe('notes');
    expect(existsSync(join(room.workspace, 'planted.txt'))).toBe(false);
  });

  it("is a grade with the grader's files as well", async () => {
    const { verdict, output } = await evaluate({ 'solution/model.mjs': candidate }, 'grade');
    expect({ verdict, output }).toMatchObject({ verdict: { kind: 'scored' } });
    expect(JSON.parse(output)).toMatchObject({ hidden: 'labels', grade: 'final labels' });
  });

  it('is a timeout when it hangs with grandchildren, and nothing of it is left', async () => {
    const seconds = uniqueSeconds();
    const hanging = `import { spawn } from 'node:child_process';
      export const attack = () => { spawn('setsid', ['sh', '-c', 'sleep ${seconds} & sleep ${seconds}'], { detached: true, stdio: 'ignore' }); return new Promise(() => setInterval(() => {}, 1000)); };`;
    contract = { ...contract, evaluate: { ...contract.evaluate, timeoutMs: 1500 } };
    const { verdict } = await evaluate({ 'solution/model.mjs': hanging });
    expect(verdict).toEqual({ kind: 'timeout', afterMs: 1500 });
    expect(running(`sleep ${seconds}`)).toEqual([]);
  });

  it('can be prepared again after candidate code closed its folders and planted links', async () => {
    const nasty = `import fs from 'node:fs';
      export const attack = () => { fs.mkdirSync('shut/in', { recursive: true }); fs.symlinkSync('/etc', 'shut/etc'); fs.chmodSync('shut/in', 0); fs.chmodSync('shut', 0); return {}; };`;
    expect((await evaluate({ 'solution/model.mjs': nasty })).verdict).toEqual({ kind: 'scored', score: 1 });
    expect((await evaluate({ 'solution/model.mjs': candidate })).verdict).toEqual({ kind: 'scored', score: 1 });
    expect(existsSync('/etc/passwd')).toBe(true);
  });
});

it('a forged evaluator in the workspace or the candidate is never what runs', async () => {
  const room = new MachineRoom();
  try {
    write(room.workspace, { 'evaluate.sh': '#!/bin/sh\necho \'{"score": 1}\' > "$HMA_RESULT"\n' });
    chmodSync(join(room.workspace, 'evaluate.sh'), 0o755);
    const stored = await protectFiles({
      workspace: room.workspace,
      patterns: ['evaluate.sh'],
      store: join(room.state, 'protected'),
    });
    if (!stored.ok) throw new Error(stored.refusal.detail);
    writeFileSync(join(room.workspace, 'evaluate.sh'), '#!/bin/sh\necho \'{"score": 99}\' > "$HMA_RESULT"\n');
    mkdirSync(join(room.state, 'e'));
    const prepared = await prepareCheckout({
      folder: join(room.state, 'e'),
      restoreCandidate: async (into) =>
        void write(into, { 'evaluate.sh': '#!/bin/sh\necho \'{"score": 98}\' > "$HMA_RESULT"\n' }),
      protectedFiles: stored.value,
      workspace: room.workspace,
    });
    if (!prepared.ok) throw new Error(prepared.refusal.detail);
    const { checkout, resultFile } = prepared.value;
    execFileSync('./evaluate.sh', { cwd: checkout, env: { HMA_RESULT: resultFile, PATH: '/usr/bin:/bin' } });
    expect(readFileSync(resultFile, 'utf8')).toBe('{"score": 1}\n');
  } finally {
    room.close();
  }
});
