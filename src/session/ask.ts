import { sessionExit, type agentRequests } from '../protocol/agent.ts';
import type { Output } from './output.ts';
import type { Controller } from './patience.ts';

/** What a session's command works with. */
export interface Ask {
  readonly controller: Controller;
  readonly token: string;
  readonly output: Output;
  readonly json: boolean;
  /** Says what is wrong with the words given, and answers the exit code for it. */
  readonly misuse: (text: string) => Promise<number>;
}

/** A reply of the controller, or the exit code after its absence was told. */
export type Replied<Reply> = { readonly reply: Reply } | { readonly exit: number };

type Method = (typeof agentRequests)[keyof typeof agentRequests];

/** One call with the session's token; failures are told on stderr. */
export async function askController<Reply>(
  ask: Ask,
  method: Method,
  given: { readonly params?: object; readonly timeoutMs?: number },
): Promise<Replied<Reply>> {
  const answer = await ask.controller.call(method, { ...given.params, token: ask.token }, given.timeoutMs ?? 30_000);
  if (answer.ok) return { reply: answer.value as Reply };
  const { failure } = answer;
  switch (failure.kind) {
    case 'away':
      await ask.output.remark(
        `hma: the controller can't be reached (${failure.detail}). Nothing is known to be lost: run the same command again later; a submission that arrived is answered with its own id.\n`,
      );
      return { exit: sessionExit.unreachable };
    case 'barred':
      await ask.output.remark(
        `hma: the controller's socket can't be opened (${failure.detail}). This process is not inside the session's confinement, or HMA_SOCKET was changed.\n`,
      );
      return { exit: sessionExit.unreachable };
    case 'error':
      await ask.output.remark(`hma: the controller could not answer: ${failure.detail}\n`);
      return { exit: sessionExit.failed };
  }
}

/** Prints a value as one line of JSON, or its words. */
export const answerWith = (ask: Ask, value: unknown, words: string): Promise<boolean> =>
  ask.output.print(ask.json ? `${JSON.stringify(value)}\n` : words);

/** Prints a refusal. */
export async function answerRefused(
  ask: Ask,
  refused: { readonly code: string; readonly reason: string },
): Promise<number> {
  if (ask.json) await ask.output.print(`${JSON.stringify({ refused })}\n`);
  else await ask.output.remark(`hma: refused (${refused.code}): ${refused.reason}\n`);
  return sessionExit.refused;
}
