import { createHash } from 'node:crypto';
import { homedir, platform } from 'node:os';
import { basename, join, resolve } from 'node:path';

import type { SessionName } from '../options/model.ts';

/**
 * The state folder: `HMA_HOME`, else the contract's `state`, else the platform's place for state. It lies outside every
 * workspace and is private (0700).
 */
export function stateHome(env: NodeJS.ProcessEnv = process.env, fromContract: string | null = null): string {
  if (env['HMA_HOME']) return env['HMA_HOME'];
  if (fromContract) return fromContract;
  if (platform() === 'darwin') return join(homedir(), 'Library', 'Application Support', 'hma');
  return join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'hma');
}

/** A workspace's name in the state folder: its base name for people, a hash of its real path for uniqueness. */
export function workspaceId(workspace: string): string {
  const name =
    basename(workspace)
      .replace(/[^A-Za-z0-9._-]/g, '_')
      .slice(0, 40) || 'root';
  return `${name}-${createHash('sha256').update(workspace).digest('hex').slice(0, 10)}`;
}

/** Where one run keeps everything it remembers. */
export const runFolderOf = (home: string, workspace: string, run: string): string =>
  join(home, 'workspaces', workspaceId(workspace), 'runs', run);

/** The state folder in which a run's folder lies. */
export const homeOf = (runFolder: string): string => resolve(runFolder, '../../../..');

/** A run's id: UTC second of its start and four random hex digits, so that names sort by time. */
export function newRunId(wall: number, random: string): string {
  const [date = '', time = ''] = new Date(wall).toISOString().split('T');
  return `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}-${random}`;
}

/** A session's folder below `sessions/`: `option-3`, `review`. */
export const sessionFolderName = (session: SessionName): string =>
  session.kind === 'review' ? 'review' : `option-${session.number}`;

/** Folder of one attempt of a session, where its runner keeps its output. */
export const attemptFolderOf = (runFolder: string, session: SessionName, attempt: number): string =>
  join(runFiles(runFolder).sessions, sessionFolderName(session), `attempt-${attempt}`);

/** The files and folders of a run folder. */
export const runFiles = (folder: string) => ({
  contract: join(folder, 'contract.json'),
  /** {run, workspace, workspaceId, openedWall}: what `list` needs without reading a ledger. */
  run: join(folder, 'run.json'),
  /** A controller's answer to whoever started it. */
  boot: (launch: string): string => join(folder, `boot-${launch}.json`),
  endpoint: join(folder, 'endpoint.json'),
  keeper: join(folder, 'keeper.json'),
  alive: join(folder, 'alive.json'),
  log: join(folder, 'controller.log'),
  snapshots: join(folder, 'snapshots'),
  protected: join(folder, 'protected'),
  sessions: join(folder, 'sessions'),
  evaluations: join(folder, 'evaluations'),
});
