import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { writeFileAtomic } from '../base/files.ts';
import { sessionFolderName } from '../ledger/places.ts';
import type { SessionName } from '../options/model.ts';

/** Hash by which a token is known in the ledger. */
export const tokenHashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** A name that no other start has. */
export const newNonce = (): string => randomBytes(12).toString('hex');

/** The UUID by which a harness knows an attempt, from its nonce: the same whenever it is asked for. */
export function sessionIdOf(nonce: string): string {
  const hex = createHash('sha256').update(`session ${nonce}`).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** Where a session's files lie, below `sessions/`. */
export class SessionFolder {
  readonly path: string;

  constructor(sessions: string, session: SessionName) {
    this.path = join(sessions, sessionFolderName(session));
  }

  /** The runner's folder of one attempt. */
  attempt(number: number): string {
    return join(this.path, `attempt-${number}`);
  }

  /** HOME and TMPDIR of an attempt; removed at the handoff. */
  get home(): string {
    return join(this.path, 'home');
  }
  get tmp(): string {
    return join(this.path, 'tmp');
  }
  /** Readable for the session: its prompt. */
  get shown(): string {
    return join(this.path, 'shown');
  }
  /** Messages of a person to one attempt. */
  inbox(attempt: number): string {
    return join(this.shown, `inbox-${attempt}.jsonl`);
  }
  /** The reviewer's working folder. */
  get scratch(): string {
    return join(this.path, 'scratch');
  }
  /** The ballot: one file, the last valid content counts. */
  get ballot(): string {
    return join(this.scratch, 'ballot.json');
  }

  /** Makes the session's token and keeps it where only the controller reads; the ledger gets its hash. */
  createToken(): string {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    const token = randomBytes(24).toString('base64url');
    writeFileAtomic(join(this.path, 'token'), token);
    return token;
  }

  readToken(): string {
    return readFileSync(join(this.path, 'token'), 'utf8');
  }
}

/** Keeps what a session is told where the session, and later a person, can read it. */
export function keepPrompt(folder: SessionFolder, text: string): void {
  mkdirSync(folder.shown, { recursive: true, mode: 0o755 });
  writeFileAtomic(join(folder.shown, 'prompt.md'), text, 0o644);
}
