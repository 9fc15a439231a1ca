import { lstat, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { absolutePath, findProgram, programFolders } from '../base/program.ts';
import { ok, refused, type Result } from '../base/result.ts';
import type { Bind, ProgramSpec, Tier } from '../machines/port.ts';
import type { Contract } from '../task/model.ts';
import type { Checkout } from './checkout.ts';

/** Which of the contract's three programs is meant. */
export type EvaluationKind = 'evaluation' | 'validation' | 'grade';

/** One evaluation to start. */
export interface EvaluationRequest {
  readonly kind: EvaluationKind;
  readonly contract: Contract;
  readonly nonce: string;
  readonly checkout: Checkout;
  readonly workspace: string;
  readonly tier: Tier;
  readonly uid?: number;
  /** What the tier's probe found and the run's share of the machine; see `Confinement`. */
  readonly nested?: 'refused' | 'possible';
  readonly gpus?: readonly number[];
  /** What no program of the run may see: state folder, contract and private file, other HOMEs. Absolute. */
  readonly hidden: readonly string[];
  /** The controller's environment, from which only named variables are taken. */
  readonly outerEnvironment: Readonly<Record<string, string | undefined>>;
  /** The Node binary for commands that begin with `node` where PATH's is missing or older than 22. Default: this process's. */
  readonly ownNode?: string;
}

/** What the runner is started with. The environment is apart, since it is never written to a file. */
export interface PreparedProgram {
  readonly spec: ProgramSpec;
  readonly environment: Readonly<Record<string, string>>;
}

/** Why an evaluation can't be started. `cwd_missing` may be the candidate's fault, the other is the machine's or the task's. */
export interface EvaluationRefusal {
  readonly reason: 'program_not_found' | 'cwd_missing' | 'bind_missing';
  readonly detail: string;
}

const keyOf = { evaluation: 'evaluate', validation: 'validate', grade: 'grade' } as const;

/** Hidden paths of the contract that this program may read, and those that it may not. Only the grader sees the grader's. */
function secrets(
  kind: EvaluationKind,
  contract: Contract,
): { readonly open: readonly string[]; readonly shut: readonly string[] } {
  const own = contract.evaluate.hidden;
  const grader = contract.grade?.hidden ?? [];
  const open = kind === 'grade' ? [...own, ...grader] : kind === 'evaluation' ? own : [];
  return { open, shut: [...own, ...grader].filter((path) => !open.includes(path)) };
}

/** Folders that the strongest tier replaces by the program's own, so that a program that lies there has to be shown. */
const privateAnyway = ['/tmp', '/var/tmp', '/run'];

const isBelow = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** What is shown to the evaluator at absolute paths; a link that the candidate put there must not lead out of the checkout. */
async function bindsOf(request: EvaluationRequest): Promise<Result<readonly Bind[], EvaluationRefusal>> {
  const { kind, contract, checkout } = request;
  const found: Bind[] = [];
  for (const { from, to } of kind === 'evaluation' ? (contract.evaluate.binds ?? []) : []) {
    const own = from !== null && !from.startsWith('/');
    const folder = own ? await workingFolder(checkout.checkout, from) : from;
    if (own && folder === null)
      return refused({
        reason: 'bind_missing',
        detail: `\`${from}\`, which is shown at ${to}, is no folder of the candidate`,
      });
    found.push({ from: folder, to, writable: own || from === null });
  }
  return ok(found);
}

/** The working directory inside the checkout; a link that the candidate put there must not lead out of it. */
async function workingFolder(checkout: string, cwd: string): Promise<string | null> {
  const folder = join(checkout, cwd);
  const stats = await lstat(folder).catch(() => null);
  const real = await realpath(folder).catch(() => null);
  if (!stats || real === null || relative(await realpath(checkout), real).startsWith('..')) return null;
  return (await lstat(real)).isDirectory() ? folder : null;
}

function environmentOf(request: EvaluationRequest): Record<string, string> {
  const { contract, outerEnvironment: outer, checkout } = request;
  const named = Object.fromEntries(
    contract.environment.flatMap((name) => (outer[name] === undefined ? [] : [[name, outer[name]] as const])),
  );
  return {
    LANG: outer['LANG'] ?? 'C.UTF-8',
    ...(outer['TZ'] === undefined ? {} : { TZ: outer['TZ'] }),
    ...named,
    PATH: absolutePath(outer['PATH']),
    HOME: checkout.home,
    TMPDIR: checkout.tmp,
    HMA_CANDIDATE: checkout.checkout,
    HMA_WORKSPACE: request.workspace,
    HMA_RESULT: checkout.resultFile,
    // a VS Code binary that stands in for Node runs as Node only so
    ...(process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' }),
  };
}

/**
 * How to start the contract's evaluator, validator or grader on a prepared checkout: its working directory is inside the
 * checkout, which relative script paths resolve against; the program is looked up by `findProgram` (which says what plain `node`
 * means); it may write the checkout, its result's folder, HOME and TMPDIR, nothing else; the workspace is read-only. The
 * validator sees no hidden path, because agents are shown what it says. Throws when the contract has no such part.
 */
export async function evaluationSpec(request: EvaluationRequest): Promise<Result<PreparedProgram, EvaluationRefusal>> {
  const { kind, contract, checkout } = request;
  const part = contract[keyOf[kind]];
  if (part === null) throw new Error(`the contract has no ${keyOf[kind]}`);
  const cwd = await workingFolder(checkout.checkout, part.cwd);
  if (cwd === null) {
    const detail = `the working directory \`${part.cwd}\` of \`${keyOf[kind]}\` is no folder of the candidate or the protected files`;
    return refused({ reason: 'cwd_missing', detail });
  }
  const environment = environmentOf(request);
  const [name, ...rest] = part.command;
  const search = {
    path: environment['PATH'],
    cwd,
    ...(request.ownNode === undefined ? {} : { ownNode: request.ownNode }),
  };
  const program = await findProgram(name, search);
  if (!program.ok) {
    return refused({ reason: 'program_not_found', detail: `\`${keyOf[kind]}\` can't run: ${program.refusal.detail}` });
  }
  const binds = await bindsOf(request);
  if (!binds.ok) return binds;
  const { open, shut } = secrets(kind, contract);
  const hidden = [...new Set([...request.hidden, ...shut])].filter((path) => !open.includes(path));
  const writable = [checkout.checkout, join(checkout.resultFile, '..'), checkout.tmp, checkout.home];
  const covered = [...hidden, ...privateAnyway];
  const needed = (await programFolders(program.value, request.outerEnvironment['HOME'])).filter(
    (folder) => covered.some((path) => isBelow(path, folder)) && !writable.some((path) => isBelow(path, folder)),
  );
  const spec: ProgramSpec = {
    nonce: request.nonce,
    kind,
    argv: [program.value, ...rest],
    cwd,
    confinement: {
      tier: request.tier,
      writable,
      readable: [request.workspace, ...open, ...needed, ...contract.isolation.readable],
      hidden,
      home: checkout.home,
      tmp: checkout.tmp,
      network: contract.isolation.network,
      ...(request.uid === undefined ? {} : { uid: request.uid }),
      ...(request.nested === undefined ? {} : { nested: request.nested }),
      ...(request.gpus === undefined ? {} : { gpus: request.gpus }),
      ...(binds.value.length === 0 ? {} : { binds: binds.value }),
    },
    timeoutMs: part.timeoutMs,
    outputBytes: contract.limits.outputBytes,
  };
  return ok({ spec, environment });
}
