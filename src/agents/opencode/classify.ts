import { apiFailure } from '../apiFailure.ts';
import { classifyExit } from '../classifyExit.ts';
import type { AttemptEnd, Failure } from '../port.ts';
import { readFailure } from './said.ts';

/** Why an attempt of opencode is no natural end: the driver's last line tells the failed call, with its status where it was told. */
export function classifyOpencode(end: AttemptEnd): Failure | null {
  const plain = classifyExit(end);
  if (plain === null || plain.reason !== 'crash') return plain;
  const lines = new TextDecoder().decode(end.outputTail).split('\n');
  const failure = lines.map(readFailure).findLast((found) => found !== null);
  if (!failure) return plain;
  const told = apiFailure({ title: 'opencode', ...failure, wall: end.wall });
  // only what may pass is tried again, and its words need not say what it was
  return told.reason === 'crash' && failure.status === null ? { ...told, reason: 'overloaded' } : told;
}
