import { classifyExit } from '../classifyExit.ts';
import type { AttemptEnd, Failure, FailureReason } from '../port.ts';
import { resetTimeOf } from '../resetTime.ts';

/** The line by which any program can tell why it gives up: `{"type":"hma.failure","reason":"usage_limit","detail":"resets 3pm","resetAt":1796050800000}`. */
const lineType = 'hma.failure';

/** What a program can know of its own end. */
const reasons: ReadonlySet<string> = new Set<FailureReason>([
  'usage_limit',
  'login_expired',
  'model_not_found',
  'overloaded',
  'network',
  'context_overflow',
]);

/**
 * As any program's exit code says; of one that exits with an error, its own last word on the reason counts. `resetAt` is Unix ms; where
 * it is absent, the detail's words are read.
 */
export function classifyCommand(end: AttemptEnd): Failure | null {
  const plain = classifyExit(end);
  if (plain?.reason !== 'crash') return plain;
  const lines = new TextDecoder().decode(end.outputTail).split('\n');
  return lines.map((line) => reported(line, end.wall)).findLast((told) => told !== null) ?? plain;
}

function reported(line: string, wall: number): Failure | null {
  if (!line.includes(lineType)) return null;
  let told: Readonly<Record<string, unknown>>;
  try {
    told = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return null; // torn, or not ours
  }
  const { type, reason, detail, resetAt } = told as Partial<Record<'type' | 'reason' | 'detail' | 'resetAt', unknown>>;
  if (type !== lineType || typeof reason !== 'string' || !reasons.has(reason)) return null;
  const words = typeof detail === 'string' ? detail.slice(0, 400) : 'as it says';
  const reset = typeof resetAt === 'number' ? resetAt : resetTimeOf(words, { wall });
  return { reason: reason as FailureReason, detail: words, ...(reset === null ? {} : { resetAt: reset }) };
}
