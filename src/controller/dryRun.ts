import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';

import { lastLineOf } from '../base/oneLine.ts';
import { prepareCheckout } from '../evaluators/checkout.ts';
import { evaluationSpec } from '../evaluators/evaluationSpec.ts';
import type { Verdict } from '../evaluators/port.ts';
import { protectFiles } from '../evaluators/protectedFiles.ts';
import { readVerdict } from '../evaluators/readVerdict.ts';
import { removeFolder } from '../machines/isolation.ts';
import { runnerFile } from '../machines/runnerFiles.ts';
import { forgetUid } from '../machines/uidAccess.ts';
import { pickUids, releaseUids } from '../machines/uidTier.ts';
import { openSnapshots } from '../snapshots/store.ts';
import { hiddenPaths } from './confinement.ts';
import type { DoctorRequest } from './doctorPlace.ts';
import { runProgram } from './doctorProgram.ts';
import { installRuntime, type Runtime } from './runtime.ts';
import { newNonce } from './sessionFolders.ts';

/** What one run of the evaluator on the candidate's present files came to. */
export type DryRun =
  | { readonly kind: 'ran'; readonly verdict: Verdict; readonly ms: number; readonly lastWords: string }
  /** There is nothing to evaluate yet, the files would be refused if they were submitted, or it could not be started. */
  | { readonly kind: 'not_run'; readonly reason: NotRun; readonly detail: string };

type NotRun = 'no_candidate' | 'refused' | 'failed';

const notRun = (reason: NotRun, detail: string): DryRun => ({ kind: 'not_run', reason, detail });

/**
 * Runs the task's evaluator once as a run would: on a fresh checkout of the candidate as it lies in the workspace, in the isolation that it
 * would have, with its time limit. Nothing counts, and nothing of it is left.
 */
export async function dryRun(request: DoctorRequest): Promise<DryRun> {
  const { home, tier } = request;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const runtime = installRuntime(home);
  const base = mkdtempSync(join(home, 'doctor-'));
  const holder = `dry run ${process.pid}`;
  const uids = tier === 'uid' ? pickUids(holder, 1) : null;
  if (uids && !uids.ok) return notRun('failed', uids.refusal);
  const uid = uids?.ok ? uids.value[0] : undefined;
  try {
    return await evaluate(request, { base, runtime, uid });
  } finally {
    if (uid !== undefined) await forgetUid(uid, [base, runtime.folder, request.workspace]);
    releaseUids(holder);
    await removeFolder(base);
  }
}

async function evaluate(
  { contract, workspace, home, tier, env, signal }: DoctorRequest,
  given: { readonly base: string; readonly runtime: Runtime; readonly uid: number | undefined },
): Promise<DryRun> {
  const { base, runtime, uid } = given;
  const path = env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
  const snapshots = await openSnapshots({ dir: join(base, 'snapshots'), env: { PATH: path } });
  try {
    const captured = await snapshots.capture({
      ...{ root: workspace, include: contract.candidate, exclude: ['.hma'], kind: 'candidate', ref: 'dry-run' },
      limits: { bytes: contract.limits.candidateBytes, files: contract.limits.candidateFiles },
    });
    if (!captured.ok)
      return notRun(captured.refusal.reason === 'missing' ? 'no_candidate' : 'refused', captured.refusal.detail);
    if (captured.value.files === 0) return notRun('no_candidate', 'none of the candidate’s files is there');
    const stored = await protectFiles({ workspace, patterns: contract.protected, store: join(base, 'protected') });
    if (!stored.ok) return notRun('failed', `${stored.refusal.path}: ${stored.refusal.detail}`);
    const checkout = await prepareCheckout({
      folder: join(base, 'evaluation'),
      async restoreCandidate(target) {
        const restored = await snapshots.restore(captured.value.id, target);
        if (!restored.ok) throw new Error(restored.refusal.detail);
      },
      protectedFiles: stored.value,
      workspace,
      ...(uid === undefined ? {} : { uid }),
    });
    if (!checkout.ok) return notRun('failed', `${checkout.refusal.path}: ${checkout.refusal.detail}`);
    const prepared = await evaluationSpec({
      ...{ kind: 'evaluation', nonce: newNonce(), contract, checkout: checkout.value, workspace, tier },
      ...(uid === undefined ? {} : { uid }),
      hidden: hiddenPaths({ home, workspace, tier, env }, contract),
      outerEnvironment: env,
      ownNode: runtime.node,
    });
    if (!prepared.ok) return notRun('failed', prepared.refusal.detail);
    const dir = join(base, 'runner');
    const began = performance.now();
    const { seen, output, why } = await runProgram(dir, { ...prepared.value, runtime, signal });
    const ms = Math.round(performance.now() - began);
    if (seen.kind !== 'ended') return notRun('failed', why);
    const verdict = await readVerdict({
      exit: seen.report,
      resultFile: checkout.value.resultFile,
      outputLog: join(dir, runnerFile.output),
      source: contract.evaluate.result,
      timeoutMs: contract.evaluate.timeoutMs,
    });
    return { kind: 'ran', verdict, ms, lastWords: lastLineOf(new TextDecoder().decode(output)) };
  } finally {
    await snapshots.close();
  }
}
