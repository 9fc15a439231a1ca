import { resolve } from 'node:path';

import { ok, refused, type Result } from '../../base/result.ts';
import { applyCandidate, type Applied, type ApplyTarget } from '../../client/apply.ts';
import { failure, type Failure } from '../../client/failure.ts';
import { findRun } from '../../client/lookup.ts';
import { viewRun } from '../../client/readRun.ts';
import { fail, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { showing } from '../progress.ts';
import { appliedOutput } from '../schemas.ts';
import type { RunOptions } from './looking.ts';

/** What `hma apply` may be told, as written. */
export interface ApplyOptions extends RunOptions {
  readonly to?: readonly string[];
  readonly dryRun?: boolean;
  readonly overwrite?: boolean;
}

/** `hma apply`: brings a candidate's files into the workspace, a new folder or a new git branch. */
export async function apply(desk: Desk, id: string | undefined, options: ApplyOptions): Promise<number> {
  const json = options.json ?? false;
  const target = targetOf(options.to ?? ['workspace'], desk.cwd);
  if (!target.ok) return fail(desk, target.refusal, json);
  const place = findRun({ ...desk, run: options.run });
  if (!place.ok) return fail(desk, place.refusal, json);
  const view = await viewRun(place.value);
  if (!view.ok) return fail(desk, view.refusal, json);
  const dryRun = options.dryRun ?? false;
  const applied = await showing(desk, dryRun ? 'comparing' : 'applying', () =>
    applyCandidate(view.value, {
      candidate: id ?? null,
      target: target.value,
      dryRun,
      overwrite: options.overwrite ?? false,
      env: desk.env,
    }),
  );
  if (!applied.ok) return fail(desk, applied.refusal, json);
  if (json) await sayJson(desk, appliedOutput.parse({ run: place.value.run, dryRun, ...applied.value }));
  else await sayLines(desk, sayApplied(applied.value, dryRun));
  return exitCodes.ok;
}

/** Reads `--to workspace`, `--to folder DIR`, `--to branch NAME`. */
export function targetOf(words: readonly string[], cwd: string): Result<ApplyTarget, Failure> {
  const [to, name, ...more] = words;
  if (more.length === 0 && name !== undefined && to === 'folder') return ok({ to, folder: resolve(cwd, name) });
  if (more.length === 0 && name !== undefined && to === 'branch') return ok({ to, branch: name });
  if (to === 'workspace' && name === undefined) return ok({ to });
  return refused(
    failure('usage', 'bad_target', {
      what:
        name === undefined && (to === 'folder' || to === 'branch')
          ? `--to ${to} needs the ${to}'s name after it`
          : `--to takes workspace, folder DIR or branch NAME, not ${JSON.stringify(words.join(' '))}`,
      fix: 'Write it like hma apply e7 --to branch hma/e7, or --to folder ../best; the candidate stands before it.',
    }),
  );
}

function sayApplied(
  { candidate, target, where, changes, unchanged, kept, commit }: Applied,
  dryRun: boolean,
): string[] {
  const place = target === 'branch' ? `branch ${where}` : where;
  const same = unchanged === 0 ? '' : `, ${unchanged} unchanged`;
  const head = dryRun
    ? `${candidate} would change ${changes.length} files of ${place}${same}; nothing was changed`
    : `${candidate} is in ${place}: ${changes.length} files written${same}`;
  const lines = changes.map(
    ({ path, change, lost }) =>
      `  ${change === 'added' ? '+' : '~'} ${path}${lost && dryRun ? '   what stands there now is in no commit and no candidate' : ''}`,
  );
  const shown = lines.length > 40 ? [...lines.slice(0, 40), `  … and ${lines.length - 40} more`] : lines;
  return [
    head,
    ...(target === 'folder' ? [] : shown),
    ...(kept === null ? [] : [`What was overwritten is kept in ${kept}`]),
    ...(commit === null ? [] : [`  git diff HEAD ${where} · git switch ${where}`]),
  ];
}
