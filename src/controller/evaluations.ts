import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import type { FactOf } from '../base/fact.ts';
import type { ArchiveEvents } from '../archive/events.ts';
import { prepareCheckout, type Checkout } from '../evaluators/checkout.ts';
import { evaluationSpec, type EvaluationKind } from '../evaluators/evaluationSpec.ts';
import type { Verdict } from '../evaluators/port.ts';
import { readValidation, readVerdict, type Validation } from '../evaluators/readVerdict.ts';
import { removeFolder } from '../machines/isolation.ts';
import { observeRunner } from '../machines/runnerControl.ts';
import { runnerFile } from '../machines/runnerFiles.ts';
import { isUndecided, type RejectionCode } from '../experiments/model.ts';
import { verdictsEndAt } from '../run/schedule.ts';
import { crashAt } from './crashPoints.ts';
import { endProgram, supervise, type ProgramEnd } from './programs.ts';
import type { Room } from './room.ts';
import { newNonce } from './sessionFolders.ts';

/** Where one run of an evaluator, validator or grader lies. */
interface EvaluationPlace {
  readonly folder: string;
  /** The runner's folder. */
  readonly dir: string;
  readonly nonce: string;
}

const placeOf = (room: Room, id: string, nonce: string): EvaluationPlace => {
  const folder = join(room.files.evaluations, `${id}-${nonce}`);
  return { folder, dir: join(folder, 'runner'), nonce };
};

const resultFileOf = (place: EvaluationPlace): string => join(place.folder, 'result', 'result.json');

/** Writes the intent of an evaluator's start; the next look at the state starts it. */
export function beginEvaluation(room: Room, id: string, kind: 'evaluate' | 'control'): void {
  room.recorder.append([{ type: 'evaluation.starting', data: { id, nonce: newNonce(), kind } }]);
  room.standby.expect();
}

/** Sees one evaluation through, from its start or from wherever it is, and records the verdict with its own stamp. */
export async function superviseEvaluation(room: Room, id: string, nonce: string): Promise<void> {
  const experiment = room.recorder.state.experiments.findLast((e) => e.id === id);
  const evaluation = experiment?.evaluations.find((e) => e.nonce === nonce);
  if (!experiment || !evaluation || evaluation.verdict !== null) return;
  const reference = room.recorder.state.archive.at(-1)?.snapshot ?? room.recorder.state.initial;
  const snapshot = evaluation.kind === 'control' ? reference : (experiment.captured?.snapshot ?? null);
  const place = placeOf(room, id, nonce);
  const end =
    snapshot === null
      ? ({ kind: 'not_started', detail: 'there are no files to evaluate' } as const)
      : await runOn(room, { place, kind: 'evaluation', snapshot });
  await recordVerdict(room, { id, place, end });
}

/** Runs one of the contract's programs on a snapshot, once, whatever dies. */
async function runOn(
  room: Room,
  what: { place: EvaluationPlace; kind: EvaluationKind; snapshot: string },
): Promise<ProgramEnd> {
  const { place, kind, snapshot } = what;
  const grading = kind === 'grade';
  return await supervise({
    dir: place.dir,
    nonce: place.nonce,
    tier: room.isolation.tier,
    runtime: room.runtime,
    standby: room.standby,
    async prepare() {
      const uid = room.isolation.evaluationUid;
      const checkout = await prepareCheckout({
        folder: place.folder,
        async restoreCandidate(target) {
          const restored = await room.snapshots.restore(snapshot, target);
          if (!restored.ok) throw new Error(`snapshot ${snapshot}: ${restored.refusal.detail}`);
        },
        protectedFiles: room.protectedFiles,
        workspace: room.workspace,
        ...(uid === undefined ? {} : { uid }),
      });
      if (!checkout.ok) return `${checkout.refusal.path}: ${checkout.refusal.detail}`;
      if (!grading) crashAt('evaluation.prepared');
      return await specOf(room, { kind, nonce: place.nonce, checkout: checkout.value });
    },
    beforeSpawn: () => crashAt(grading ? 'grading.beforeSpawn' : 'evaluation.beforeSpawn'),
    afterSpawn: () => crashAt(grading ? 'grading.spawned' : 'evaluation.spawned'),
  });
}

async function specOf(room: Room, what: { kind: EvaluationKind; nonce: string; checkout: Checkout }) {
  const uid = room.isolation.evaluationUid;
  const prepared = await evaluationSpec({
    ...what,
    contract: room.contract,
    workspace: room.workspace,
    tier: room.isolation.tier,
    ...(uid === undefined ? {} : { uid }),
    nested: room.isolation.nested,
    hidden: room.hidden,
    outerEnvironment: room.env,
    ownNode: room.runtime.node,
  });
  if (!prepared.ok) return prepared.refusal.detail;
  return prepared.value;
}

async function verdictOf(room: Room, place: EvaluationPlace, end: ProgramEnd): Promise<Verdict> {
  switch (end.kind) {
    case 'lost':
      return { kind: 'lost' };
    case 'not_started':
      return { kind: 'no_result', detail: end.detail };
    case 'ended':
      return await readVerdict({
        exit: end.report,
        resultFile: resultFileOf(place),
        outputLog: join(place.dir, runnerFile.output),
        source: room.contract.evaluate.result,
        timeoutMs: room.contract.evaluate.timeoutMs,
      });
  }
}

async function recordVerdict(room: Room, done: { id: string; place: EvaluationPlace; end: ProgramEnd }): Promise<void> {
  const { id, place, end } = done;
  const verdict = await verdictOf(room, place, end);
  crashAt('evaluation.read');
  const experiment = room.recorder.state.experiments.findLast((e) => e.id === id);
  if (!experiment || !isUndecided(experiment)) return;
  const at = end.kind === 'ended' ? room.recorder.activeOf(end.report) : room.recorder.given().active;
  room.recorder.append([{ type: 'evaluation.ended', data: { id, nonce: place.nonce, verdict, at } }]);
  await forgetCheckout(place);
}

/** Removes what a controller that was killed at the wrong moment left of evaluations that are decided. */
export async function forgetDecided(room: Room): Promise<void> {
  const { experiments, grading, reevaluating } = room.recorder.state;
  const open = new Set(experiments.filter(isUndecided).flatMap((e) => e.evaluations.map(({ nonce }) => nonce)));
  if (grading) open.add(grading.nonce);
  if (reevaluating) open.add(reevaluating.nonce);
  for (const name of readdirSync(room.files.evaluations)) {
    const nonce = name.split('-').at(-1) ?? '';
    const folder = join(room.files.evaluations, name);
    if (!open.has(nonce)) await forgetCheckout({ folder, dir: join(folder, 'runner'), nonce });
  }
}

/** The checkout and the evaluator's folders can be rebuilt from the snapshot; its output and verdict stay. */
async function forgetCheckout(place: EvaluationPlace): Promise<void> {
  for (const name of ['checkout', 'home', 'tmp']) {
    const folder = join(place.folder, name);
    if (existsSync(folder)) await removeFolder(folder);
  }
}

/** An evaluation whose time is over: a verdict stamped in time still counts, else its program is ended and the experiment rejected. */
export async function abandonEvaluation(
  room: Room,
  what: { id: string; nonce: string; code: RejectionCode; reason: string },
): Promise<void> {
  const { id, nonce, code, reason } = what;
  const place = placeOf(room, id, nonce);
  const seen = observeRunner(place.dir);
  const { state } = room.recorder;
  if (
    seen.kind === 'ended' &&
    code === 'late' &&
    room.recorder.activeOf(seen.report) < verdictsEndAt(state, room.recorder.given())
  ) {
    await recordVerdict(room, { id, place, end: seen });
    return;
  }
  await endProgram({ dir: place.dir, nonce, tier: room.isolation.tier, graceMs: 1000 });
  const experiment = room.recorder.state.experiments.findLast((e) => e.id === id);
  if (!experiment || !isUndecided(experiment)) return;
  const at = room.recorder.given().active;
  room.recorder.append([
    { type: 'evaluation.ended', data: { id, nonce, verdict: { kind: 'lost' }, at } },
    { type: 'experiment.rejected', data: { id, option: experiment.option, code, reason, score: null } },
  ]);
  await forgetCheckout(place);
}

/** Runs the task's validator on a snapshot; nothing is counted. */
export async function validateSnapshot(room: Room, snapshot: string): Promise<Validation> {
  const nonce = newNonce();
  const place = placeOf(room, 'validation', nonce);
  const end = await runOn(room, { place, kind: 'validation', snapshot });
  const validation: Validation =
    end.kind === 'ended'
      ? await readValidation({
          exit: end.report,
          resultFile: resultFileOf(place),
          outputLog: join(place.dir, runnerFile.output),
          timeoutMs: room.contract.validate?.timeoutMs ?? 0,
        })
      : { kind: 'broken', detail: end.kind === 'lost' ? 'the check was lost; ask again' : end.detail };
  await removeFolder(place.folder);
  return validation;
}

/** Sees a candidate's hidden grading through and records it. A grading that is lost or broken is an answer too: `ungraded`, with why. */
export async function superviseGrading(room: Room, id: string): Promise<void> {
  const candidate = room.recorder.state.archive.find((c) => c.id === id);
  if (!candidate || !room.contract.grade) return;
  if (room.recorder.state.grading?.id !== id)
    room.recorder.append([{ type: 'grading.starting', data: { id, nonce: newNonce() } }]);
  const nonce = room.recorder.state.grading?.nonce ?? '';
  const place = placeOf(room, `grade-${id}`, nonce);
  const grader = await graderVersion(room);
  const end = await runOn(room, { place, kind: 'grade', snapshot: candidate.snapshot });
  const result = { ...(await gradeOf(room, place, end)), grader };
  room.recorder.append([{ type: 'candidate.graded', data: { id, nonce, result } }]);
  await forgetCheckout(place);
}

/** Sees one more run of the evaluator on a candidate's files through and records its verdict beside the score. */
export async function superviseReevaluation(room: Room, id: string): Promise<void> {
  const candidate = room.recorder.state.archive.find((c) => c.id === id);
  if (!candidate) return;
  if (room.recorder.state.reevaluating?.id !== id)
    room.recorder.append([{ type: 'reevaluation.starting', data: { id, nonce: newNonce() } }]);
  const nonce = room.recorder.state.reevaluating?.nonce ?? '';
  const place = placeOf(room, `again-${id}`, nonce);
  const end = await runOn(room, { place, kind: 'evaluation', snapshot: candidate.snapshot });
  const verdict = await verdictOf(room, place, end);
  room.recorder.append([{ type: 'candidate.reevaluated', data: { id, nonce, verdict } }]);
  await forgetCheckout(place);
}

/** The version of a grader: a hash of its command and of the files that it names, so that grades of different ones are told apart. */
async function graderVersion(room: Room): Promise<string> {
  const { command = [], cwd = '.' } = room.contract.grade ?? {};
  const hash = createHash('sha256').update(JSON.stringify([command, cwd]));
  for (const word of command) {
    const file = resolve(room.workspace, cwd, word);
    const content = await readFile(file).catch(() => null); // no file, or not one that can be read: the word itself counts
    if (content) hash.update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

type GradeResult = Extract<FactOf<ArchiveEvents>, { type: 'candidate.graded' }>['data']['result'];

async function gradeOf(room: Room, place: EvaluationPlace, end: ProgramEnd): Promise<GradeResult> {
  if (end.kind !== 'ended')
    return { kind: 'ungraded', reason: end.kind === 'lost' ? 'the grader was lost' : end.detail };
  const verdict = await readVerdict({
    exit: end.report,
    resultFile: resultFileOf(place),
    outputLog: join(place.dir, runnerFile.output),
    source: { from: 'file' },
    timeoutMs: room.contract.grade?.timeoutMs ?? 0,
  });
  switch (verdict.kind) {
    case 'scored':
      return { kind: 'graded', grade: verdict.score };
    case 'timeout':
      return { kind: 'ungraded', reason: 'the grader ran out of time' };
    case 'no_result':
      return { kind: 'ungraded', reason: verdict.detail };
    case 'non_finite':
      return { kind: 'ungraded', reason: `the grade was ${verdict.text}` };
    case 'lost':
      return { kind: 'ungraded', reason: 'the grader was lost' };
    case 'invalid':
    case 'incorrect':
      return { kind: 'ungraded', reason: verdict.reason };
  }
}
