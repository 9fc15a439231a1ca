import { assertNever } from '../base/assertNever.ts';
import { lastLineOf } from '../base/oneLine.ts';
import type { AttemptEnd, Failure } from './port.ts';

const conventional: Readonly<Record<number, string>> = {
  126: ' (by convention: a command was found but could not be run)',
  127: ' (by convention: a command was not found)',
};

/**
 * Why an attempt of a plain program is no natural end; null when it is one, or when the runner ended it (its deadline or a request),
 * whose reason the controller knows. Exit code 0 is natural; any other code or a signal is a crash; memory is told apart.
 */
export function classifyExit({ exit, outputTail }: AttemptEnd): Failure | null {
  switch (exit.cause) {
    case 'timeout':
    case 'ended':
      return null;
    case 'spawn':
      return {
        reason: 'not_started',
        detail: `the program could not be started: ${exit.error ?? 'no reason was given'}`,
      };
    case 'exit': {
      if (exit.outOfMemory)
        return { reason: 'out_of_memory', detail: 'the kernel ended the program because memory ran out' };
      if (exit.code === 0) return null;
      const words = lastLineOf(new TextDecoder().decode(outputTail));
      const how =
        exit.signal === null
          ? `exited with code ${exit.code}${conventional[exit.code ?? -1] ?? ''}`
          : `was killed by ${exit.signal}`;
      return { reason: 'crash', detail: `the program ${how}${words === '' ? '' : `; its last output: ${words}`}` };
    }
    default:
      return assertNever(exit.cause);
  }
}
