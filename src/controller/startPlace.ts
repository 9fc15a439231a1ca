import { nesting } from '../base/folders.ts';
import { findProgram } from '../base/program.ts';
import { ok, refused, type Result } from '../base/result.ts';
import type { StartRefusal } from './launch.ts';

/** What must hold before a byte of a new run is written: state and workspace apart, and git to keep candidates with. */
export async function fitPlace(given: {
  readonly workspace: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}): Promise<Result<null, StartRefusal>> {
  const { workspace, home, env } = given;
  const nested = nesting(workspace, home);
  if (nested !== null)
    return refused({
      reason: 'state_in_workspace',
      text:
        nested === 'state'
          ? `the state folder ${home} lies in the workspace ${workspace}, where agents could read and change it`
          : `the workspace ${workspace} lies in the state folder ${home}, which is hidden from agents`,
      fix: 'set HMA_HOME (or `state:` in hma.yaml) to a folder elsewhere',
    });
  const git = await findProgram('git', { path: env['PATH'], cwd: workspace });
  if (!git.ok)
    return refused({
      reason: 'git',
      text: 'candidates are kept with git, which was not found on PATH',
      fix: 'install git 2.36 or newer',
    });
  return ok(null);
}
