import type { Desk } from './desk.ts';

/** A person has ended a command by Ctrl-C, and it has cleaned up after itself. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Says how far long work is, such as `2 of 7`. */
export type Tell = (how: string) => void;

/** Nothing is shown of what takes no longer than this, ms; then the line is drawn anew so often. */
const refreshMs = 1000;

/**
 * Does what may take long. On a terminal alone, and on stderr alone, a line tells what goes on and since when; it is gone in the end.
 * Ctrl-C ends the process as ever, without the line.
 */
export async function showing<Value>(desk: Desk, what: string, work: (tell: Tell) => Promise<Value>): Promise<Value> {
  if (!desk.stderr.isTTY || desk.env['TERM'] === 'dumb') return work(() => undefined);
  const began = performance.now();
  let [how, shown] = ['', false];
  const draw = (): void => {
    const seconds = Math.round((performance.now() - began) / 1000);
    const line = `${what}${how === '' ? '' : `: ${how}`} … ${seconds} s`;
    desk.stderr.write(`\r${line.slice(0, Math.max(10, (desk.stderr.columns || 80) - 1))}\u001b[K`);
    shown = true;
  };
  const erase = (): void => {
    clearInterval(timer);
    if (shown) desk.stderr.write('\r\u001b[K');
    shown = false;
  };
  const leave = (): void => {
    erase();
    // whoever else listens cleans up; else the signal's own effect
    if (process.listenerCount('SIGINT') === 0) process.kill(process.pid, 'SIGINT');
  };
  const timer = setInterval(draw, refreshMs);
  process.once('SIGINT', leave);
  try {
    return await work((text) => void (how = text));
  } finally {
    process.off('SIGINT', leave);
    erase();
  }
}

/**
 * Does long work that leaves something behind when it is cut off: the first Ctrl-C (or SIGTERM) aborts its signal, waits until it has
 * cleaned up, and throws `Interrupted`; a second one ends the process.
 */
export async function interruptibly<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const interrupting = new AbortController();
  const { signal } = interrupting;
  const abort = (): void => interrupting.abort(new Interrupted('interrupted'));
  process.once('SIGINT', abort).once('SIGTERM', abort);
  try {
    return await work(signal);
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort);
    signal.throwIfAborted();
  }
}
