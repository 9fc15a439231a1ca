import type { Desk } from './desk.ts';

/** What interrupts lead to. */
export interface Interruptions {
  /** Whether the first Ctrl-C asks; else it leaves at once. */
  readonly asks: boolean;
  /** The question to show, null when it is answered. */
  readonly onQuestion: (question: string | null) => void;
  readonly onLeave: () => void;
  readonly onStop: () => void;
}

const question = 'Ctrl-C: [d]etach, the run goes on · [s]top the run · [g]o on watching ';

/**
 * Ctrl-C in the foreground asks: detach, stop, or go on; a second one detaches. SIGTERM and SIGHUP detach without asking: a closed
 * terminal must not end a run; a reader that has gone (`hma watch | head`) leaves too. Disposing gives the terminal back.
 */
export function interruptions(desk: Desk, given: Interruptions): Disposable {
  const { stdin } = desk;
  let asking = false;
  const settle = (): void => {
    asking = false;
    stdin.off('data', onKey);
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
    given.onQuestion(null);
  };
  const onKey = (bytes: Buffer): void => {
    const key = bytes.toString('utf8')[0]?.toLowerCase();
    const isInterrupt = key === '\u0003' || key === '\u0004';
    if (!isInterrupt && key !== 'd' && key !== 's' && key !== 'g' && key !== '\u001b') return;
    settle();
    if (isInterrupt || key === 'd') given.onLeave();
    else if (key === 's') given.onStop();
  };
  const onInterrupt = (): void => {
    if (!given.asks || asking) {
      if (asking) settle();
      return given.onLeave();
    }
    asking = true;
    stdin.setRawMode(true);
    stdin.resume();
    stdin.on('data', onKey);
    given.onQuestion(question);
  };
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', given.onLeave);
  process.on('SIGHUP', given.onLeave);
  desk.stdout.on('error', given.onLeave);
  return {
    [Symbol.dispose]() {
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', given.onLeave);
      process.off('SIGHUP', given.onLeave);
      desk.stdout.off('error', given.onLeave);
      if (asking) settle();
    },
  };
}
