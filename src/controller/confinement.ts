import { existsSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Launch } from '../agents/port.ts';
import type { Confinement, Tier } from '../machines/port.ts';
import { homeOf } from '../ledger/places.ts';
import type { Contract } from '../task/model.ts';
import type { Isolation } from './room.ts';

/** What a session's confinement is made from; the doctor makes the same. */
export interface ConfinedSession {
  readonly role: 'explore' | 'review';
  readonly contract: Pick<Contract, 'isolation'>;
  readonly isolation: Isolation;
  readonly workspace: string;
  readonly home: string;
  readonly tmp: string;
  /** The reviewer's working folder. */
  readonly scratch: string;
  /** Folder of its prompt. */
  readonly shown: string;
  readonly runtimeFolder: string;
  readonly agentSocket: string;
  readonly hidden: readonly string[];
  readonly launch: Pick<Launch, 'readable' | 'writable' | 'hidden'>;
}

/** The confinement of a session: the workspace, HOME and TMPDIR of its own, what its program needs, and nothing of ours. */
export function sessionConfinement(session: ConfinedSession): Confinement {
  const { contract, isolation, workspace, home, launch } = session;
  const review = session.role === 'review';
  const uid = review ? isolation.reviewUid : isolation.sessionUid;
  return {
    tier: isolation.tier,
    nested: isolation.nested,
    ...(uid === undefined ? {} : { uid }),
    writable: [
      ...(review ? [session.scratch] : [workspace]),
      ...(contract.isolation.ownHome ? [] : [home]),
      ...contract.isolation.writable,
      ...launch.writable,
    ],
    readable: [
      workspace,
      session.runtimeFolder,
      session.shown,
      // other users reach the socket by its mode; an access list for reading alone would take that away
      ...(isolation.tier === 'uid' ? [] : [join(session.agentSocket, '..')]),
      // the lease and the listing can't be cleaned away or forged where mounts can forbid it; elsewhere they are rebuilt
      ...(isolation.tier === 'bubblewrap' ? [join(workspace, '.hma')] : []),
      ...contract.isolation.readable,
      ...launch.readable,
    ],
    hidden: [...session.hidden, ...(launch.hidden ?? [])],
    home,
    tmp: session.tmp,
    network: 'open',
  };
}

/** What people keep in their HOME that is nobody else's business: keys, tokens, logins, histories, mail. Programs and their libraries stay. */
const privateNames = [
  ...[
    '.ssh',
    '.gnupg',
    '.aws',
    '.azure',
    '.kube',
    '.docker',
    '.config',
    '.netrc',
    '.npmrc',
    '.pypirc',
    '.git-credentials',
  ],
  ...[
    '.gitconfig',
    '.claude',
    '.claude.json',
    '.codex',
    '.copilot',
    '.gemini',
    '.qwen',
    '.kimi-code',
    '.password-store',
  ],
  ...[
    '.bash_history',
    '.zsh_history',
    '.python_history',
    '.mozilla',
    '.thunderbird',
    '.local/share/opencode',
    '.local/share/keyrings',
  ],
];

const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/**
 * Private files and folders in the HOMEs of this machine, as far as they are there; none where sessions work in the user's own HOME, nor
 * those that the task names for sessions.
 */
export function privatePaths(
  env: Readonly<Record<string, string | undefined>>,
  { isolation }: Pick<Contract, 'isolation'>,
): readonly string[] {
  if (!isolation.ownHome) return [];
  const named = new Set([...isolation.readable, ...isolation.writable].map(real));
  const others = existsSync('/home') ? readdirSync('/home').map((name) => join('/home', name)) : [];
  const homes = new Set([...(env['HOME'] ? [env['HOME']] : []), '/root', ...others].map(real));
  return [...homes]
    .flatMap((home) => privateNames.map((name) => join(home, name)))
    .filter((path) => existsSync(path) && !named.has(real(path)))
    .map(real);
}

/** Whose state and workspace, in which tier, and the controller's environment (HOME). */
export interface HidingPlace {
  readonly home: string;
  readonly workspace: string;
  /** Folder of the run that is gone on from: its state may lie in another home. */
  readonly from?: string;
  readonly tier: Tier;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * What no session, evaluation or grade may see, unless it is its own: everything of ours, what the contract hides, and what is private in
 * HOMEs. The last not in tier `uid`: there it is another user's anyway, and access lists on keys make ssh refuse them.
 */
export function hiddenPaths(
  { home, workspace, from, tier, env }: HidingPlace,
  contract: Pick<Contract, 'evaluate' | 'grade' | 'isolation'>,
): readonly string[] {
  const ours = [home, ...(from === undefined ? [] : [homeOf(from)]), join(workspace, 'hma.yaml')];
  const theirs = tier === 'bubblewrap' ? privatePaths(env, contract) : [];
  return [
    ...new Set(
      [
        ...ours,
        ...contract.evaluate.hidden,
        ...(contract.grade?.hidden ?? []),
        ...(contract.isolation.hidden ?? []),
        ...theirs,
      ]
        .filter((path) => existsSync(path))
        .map(real),
    ),
  ].filter((path) => path !== workspace && path !== dirname(workspace));
}

/** Login shells set PATH anew (/etc/profile): in a HOME of a session's own they take the session's, on which `hma` is first. */
export function writeLoginProfile(home: string, path: string): void {
  const text = `PATH='${path.replaceAll("'", `'\\''`)}'\nexport PATH\n`;
  for (const name of ['.profile', '.zprofile']) writeFileSync(join(home, name), text, { mode: 0o644 });
}
