import { statfsSync } from 'node:fs';

import { errorCode } from '../base/files.ts';
import type { CaptureRefusal } from './port.ts';

/** Carries a capture's refusal out of deep calls inside this folder; turned back into data by the store, never seen outside. */
export class Refusal extends Error {
  readonly refusal: CaptureRefusal;

  constructor(refusal: CaptureRefusal, cause?: unknown) {
    super(refusal.detail, { cause });
    this.refusal = refusal;
  }
}

/** Thrown when the tree changed under the capture: worth another try. */
export class Changed extends Error {
  readonly path: string;

  constructor(path: string, cause?: unknown) {
    super(`${path} changed while it was read`, { cause });
    this.path = path;
  }
}

/** Whether an error says that no space (or quota) is left. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errorCode(error);
  return (
    code === 'ENOSPC' ||
    code === 'EDQUOT' ||
    /No space left on device|Out of diskspace|Disk quota exceeded/i.test(error.message) ||
    isDiskFull(error.cause)
  );
}

/** Whether next to nothing is free where a folder lies: not every message of git that means it says so. */
function isFull(dir: string): boolean {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize < 64 * 1024;
}

/** Any error of the store itself as a refusal. */
export function storeRefusal(error: unknown, dir: string): CaptureRefusal {
  if (error instanceof Refusal) return error.refusal;
  const message = error instanceof Error ? error.message : String(error);
  if (isDiskFull(error) || isFull(dir))
    return {
      reason: 'disk_full',
      detail: `No space is left where snapshots are kept (${dir}). Free some space and try again. (${message})`,
    };
  return { reason: 'failed', detail: `The snapshot could not be stored in ${dir}: ${message}` };
}

/** What a system error met while reading the workspace means: it vanished or turned into something else, or it can't be read. */
export function readingError(error: unknown, path: string): Error {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENOTDIR' || code === 'ESTALE') return new Changed(path, error);
  return new Refusal(
    {
      reason: 'unreadable',
      path,
      detail: `${path || 'The folder'} can't be read (${code ?? String(error)}). Check its permissions.`,
    },
    error,
  );
}
