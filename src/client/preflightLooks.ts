import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { nesting } from '../base/folders.ts';
import { sayLength } from '../base/numbers.ts';
import { absolutePath, findProgram } from '../base/program.ts';
import { gpuDriver } from '../machines/gpus.ts';
import { liesOn, type SilentMount } from '../machines/silentMounts.ts';
import { compareVersions } from './agentLook.ts';
import type { PreflightItem } from './preflight.ts';

/** The oldest git whose plumbing keeps candidates. */
const oldestGit = '2.36';

/** How long git may take to say its version, ms. */
const gitMs = 10_000;

/** A look that did not come to an end in its time, ms. */
export const lateItem = (topic: PreflightItem['topic'], whose: string, ms: number): PreflightItem => ({
  topic,
  state: 'bad',
  code: 'look_too_slow',
  what: `${whose} could not be looked at within ${sayLength(ms)}`,
  detail: 'Something that it asks does not answer.',
  fix: 'Find out what hangs: a program of it started by hand, or a disk (df).',
});

/** Where a task and what it needs would be hung by mounts that don't answer. No path on one is touched. */
export function mountItems(
  silent: readonly SilentMount[],
  { workspace, env }: { readonly workspace: string; readonly env: NodeJS.ProcessEnv },
): PreflightItem[] {
  if (silent.length === 0) return [];
  const named: (readonly [string, string])[] = [
    ['this folder', workspace],
    ['HMA_HOME', env['HMA_HOME'] ?? ''],
    ['HOME', env['HOME'] ?? ''],
    ['the folder for temporary files', tmpdir()],
    ...absolutePath(env['PATH'])
      .split(':')
      .map((path) => ['PATH', path] as const),
  ];
  const contract = liesOn(silent, workspace) ? '' : textOf(join(workspace, 'hma.yaml'));
  return silent.map((mount): PreflightItem => {
    const users = named.filter(([, path]) => liesOn([mount], path) !== undefined).map(([name]) => name);
    if (contract.includes(mount.path)) users.push('hma.yaml');
    return {
      topic: 'disk',
      state: users.length > 0 ? 'bad' : 'warning',
      code: 'mount_silent',
      what: `${mount.path} (${mount.type}) does not answer`,
      detail:
        users.length > 0
          ? `It is named by ${[...new Set(users)].join(', ')}. Nothing else was looked at.`
          : 'Nothing of this task names it; a program that looks there hangs.',
      fix: 'Bring its server back, or unmount it: umount -l.',
    };
  });
}

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // what is wrong with it is told by the contract's own messages
  }
};

/** A state folder and a workspace that lie in one another: agents work beside what no agent may see, or beneath what is hidden from them. */
export function placeItems(workspace: string, home: string): PreflightItem[] {
  const nested = nesting(workspace, home);
  if (nested === null) return [];
  return [
    {
      topic: 'disk',
      state: 'bad',
      code: 'state_in_workspace',
      what: nested === 'state' ? 'the state folder lies in this folder' : 'this folder lies in the state folder',
      detail: `${home}: runs, candidates and secrets are kept there, which no agent may see.`,
      fix: 'Set HMA_HOME (or state: in hma.yaml) to a folder elsewhere.',
    },
  ];
}

/** git, which keeps the candidates: whether it is there, answers, and is new enough. */
export async function gitItem({
  workspace,
  env,
}: {
  readonly workspace: string;
  readonly env: NodeJS.ProcessEnv;
}): Promise<PreflightItem> {
  const found = await findProgram('git', { path: env['PATH'], cwd: workspace });
  const bad = (code: NonNullable<PreflightItem['code']>, what: string, detail: string): PreflightItem => ({
    ...{ topic: 'git', state: 'bad', code, what, detail },
    fix: `Install git ${oldestGit} or newer.`,
  });
  if (!found.ok) return bad('git_missing', 'git was not found; candidates are kept with it', found.refusal.detail);
  const version = await new Promise<string | undefined>((resolve) => {
    const options = { timeout: gitMs, killSignal: 'SIGKILL', env: { PATH: absolutePath(env['PATH']) } } as const;
    execFile(found.value, ['--version'], options, (_, out) => resolve(/\d+\.\d+[\d.]*/.exec(out)?.[0]));
  });
  if (version === undefined) return bad('git_silent', "git doesn't say its version", `${found.value} --version`);
  if (compareVersions(version, oldestGit) < 0) return bad('git_old', `git ${version} is too old`, found.value);
  return {
    ...{ topic: 'git', state: 'good', code: null, what: 'git is there, which keeps the candidates' },
    ...{ detail: `${found.value} ${version}`, fix: null },
  };
}

/** What there is to say of GPUs outside: a driver that hangs. Where it answers, the look inside tells more. */
export async function gpuItems(patience: number): Promise<PreflightItem[]> {
  if ((await gpuDriver(patience)) !== 'hangs') return [];
  return [
    {
      topic: 'inside',
      state: 'warning',
      code: 'gpus_silent',
      what: 'nvidia-smi does not answer',
      detail: 'Its driver may hang; programs that use a GPU would hang too.',
      fix: 'Reload the driver, or reboot; a task without GPUs is not concerned.',
    },
  ];
}
