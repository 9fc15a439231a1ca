import { appendFileSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { root as repository } from '../bootstrap/environment.mjs';
import { layOutTask, type TaskWish } from '../rig/task.ts';

/** Lays out a task of the rig, whose agents do step by step what a plan says, in a repository of git with one commit. */
export const scriptedTask =
  (wish: TaskWish) =>
  async (workspace: string): Promise<void> => {
    const root = join(workspace, '..');
    await layOutTask({ root, workspace, home: join(root, 'home'), [Symbol.dispose]: () => undefined }, wish);
    const me = ['-c', 'user.name=A Person', '-c', 'user.email=person@example.org'];
    await execa('git', ['init', '-q', '-b', 'main'], { cwd: workspace });
    await execa('git', ['add', '.'], { cwd: workspace });
    await execa('git', [...me, 'commit', '-q', '-m', 'The task'], { cwd: workspace });
  };

/**
 * Starts a run with an earlier version of HMA (a copy of the programs that differs in a byte), which is removed at once, as an editor removes
 * an extension that it has upgraded.
 */
export const startWithEarlierVersion = async (
  { root, workspace }: { readonly root: string; readonly workspace: string },
  env: NodeJS.ProcessEnv,
): Promise<void> => {
  const earlier = join(root, 'earlier');
  for (const folder of ['dist', 'media']) cpSync(join(repository, folder), join(earlier, folder), { recursive: true });
  appendFileSync(join(earlier, 'dist/controller.js'), '\n// earlier\n');
  await execa(process.execPath, [join(earlier, 'dist/cli.js'), 'run', '--detach'], { cwd: workspace, env });
  rmSync(earlier, { recursive: true });
};
