import { mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inChunks } from '../base/inChunks.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { removeFolder } from '../machines/isolation.ts';
import { giveTrees, makeWay, writePristine } from './placement.ts';
import { checkProtected, type ProtectedFile, type ProtectedFiles, type ProtectRefusal } from './protectedFiles.ts';
import { protectedMatcher } from './protectedPaths.ts';

/** The folders of one evaluation, all fresh. */
export interface Checkout {
  /** The candidate's files with the pristine protected ones laid over: HMA_CANDIDATE. */
  readonly checkout: string;
  /** HMA_RESULT: does not exist yet, alone in a folder that only this evaluation can write. */
  readonly resultFile: string;
  readonly tmp: string;
  readonly home: string;
}

/** What to prepare an evaluation from. */
export interface CheckoutRequest {
  /** The evaluation's own folder, in the state folder. What an interrupted attempt left in it is removed. */
  readonly folder: string;
  /** Writes the candidate's files into an empty folder (a snapshot's `restore`). */
  readonly restoreCandidate: (folder: string) => Promise<void>;
  readonly protectedFiles: ProtectedFiles;
  readonly workspace: string;
  /** Protected files that are left out: the contract, which candidate code has no business to read. Default `hma.yaml`. */
  readonly omit?: readonly string[];
  /** Owner of the folders where the evaluation runs as another user (tier `uid`, controller is root). */
  readonly uid?: number;
}

/** Takes away what the candidate put below protected paths: a planted `eval/json.py` would be imported by a pristine `eval/evaluate.py`. */
async function removeProtected(root: string, folder: string, belongs: (path: string) => boolean): Promise<void> {
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
    if (belongs(path)) await rm(join(root, path), { recursive: true, force: true });
    else if (entry.isDirectory()) await removeProtected(root, path, belongs);
  }
}

/** Lays the pristine files over the candidate's; a large one becomes a link to the workspace's own, which was just verified. */
async function layOver(checkout: string, given: CheckoutRequest, files: readonly ProtectedFile[]): Promise<void> {
  const { protectedFiles, workspace } = given;
  const belongs = protectedMatcher(
    protectedFiles.patterns,
    protectedFiles.files.map((file) => file.path),
  );
  await removeProtected(checkout, '.', belongs);
  for (const folder of new Set(files.map((file) => dirname(file.path)))) await makeWay(checkout, folder, 'remove');
  await inChunks(files, async (file) => {
    const target = join(checkout, file.path);
    if (file.kind === 'large') await symlink(join(workspace, file.path), target);
    else await writePristine(target, protectedFiles, file);
  });
}

/**
 * Prepares the folders of one evaluation. Refuses when a large protected file is no longer as it was (it is read in place, so the
 * evaluation would be worthless); the session lives meanwhile, so check it once more after the evaluation. Throws what
 * `restoreCandidate` throws.
 */
export async function prepareCheckout(request: CheckoutRequest): Promise<Result<Checkout, ProtectRefusal>> {
  const { folder, protectedFiles, workspace } = request;
  const [checkout, results, tmp, home] = ['checkout', 'result', 'tmp', 'home'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const each of [checkout, results, tmp, home]) {
    await removeFolder(each);
    await mkdir(each, { mode: 0o700 });
  }
  const omit = new Set(request.omit ?? ['hma.yaml']);
  const files = protectedFiles.files.filter((file) => !omit.has(file.path));
  const large = files.filter((file) => file.kind === 'large');
  const [changed] = await checkProtected(workspace, { ...protectedFiles, files: large });
  if (changed) {
    const detail = `the protected file \`${changed.path}\` is read in place and was ${changed.change}; put the original back`;
    return refused({ path: changed.path, detail });
  }
  await request.restoreCandidate(checkout);
  await layOver(checkout, request, files);
  if (request.uid !== undefined && process.getuid?.() === 0) {
    await giveTrees([checkout, results, tmp, home], request.uid);
  }
  return ok({ checkout, resultFile: join(results, 'result.json'), tmp, home });
}
