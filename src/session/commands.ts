import { randomBytes } from 'node:crypto';

import {
  agentRequests,
  receiptSeen,
  sessionExit,
  type NominateReply,
  type ResultReply,
  type StatusReply,
  type SubmitReply,
  type ValidateReply,
} from '../protocol/agent.ts';
import { longestWaitSeconds, parseScore, parseWait, type Words } from './arguments.ts';
import { answerRefused, answerWith, askController, type Ask } from './ask.ts';
import { sayReceipt, sayStatus } from './words.ts';

/** How long `hma submit` waits for the verdict unless told otherwise, ms: below the limit that agents' tools put on a command. */
const defaultWaitMs = 8000;
/** Longest note, characters. */
const longestNote = 4000;
/** A capture of a very large candidate may take this long, ms. */
const captureMs = 15 * 60_000;
/** One request waits at most this long for a verdict before it is made again, ms: a connection that is silently dead is noticed. */
const longestPollMs = 30_000;
const answerMs = 30_000;

/** The wait asked for, ms; a text when it is no wait. */
function waitOf(words: Words, otherwise: number): number | string {
  const text = words.values['wait'];
  if (text === undefined) return otherwise;
  return parseWait(text) ?? `--wait takes seconds from 0 to ${longestWaitSeconds}, not ${JSON.stringify(text)}`;
}

/** `hma submit`: the id is printed before the wait, so that it is known whatever happens next. */
export async function submit(ask: Ask, words: Words): Promise<number> {
  const { note, score } = words.values;
  const waitMs = waitOf(words, defaultWaitMs);
  if (typeof waitMs === 'string') return ask.misuse(waitMs);
  if (note !== undefined && note.length > longestNote)
    return ask.misuse(
      `--note has ${note.length} characters; at most ${longestNote} are kept. Write the rest to a file in the workspace.`,
    );
  const reported = score === undefined ? undefined : parseScore(score);
  if (score !== undefined && reported === undefined)
    return ask.misuse(`--score takes a finite decimal number such as 0.83 or -1e-4, not ${JSON.stringify(score)}`);
  const params = {
    request: randomBytes(9).toString('base64url'),
    ...(note === undefined ? {} : { note }),
    ...(reported === undefined ? {} : { reported }),
  };
  const submitted = await askController<SubmitReply>(ask, agentRequests.submit, { params, timeoutMs: captureMs });
  if ('exit' in submitted) return submitted.exit;
  if ('refused' in submitted.reply) return answerRefused(ask, submitted.reply.refused);
  const { id } = submitted.reply;
  await answerWith(ask, { id }, `${id}\n`);
  return showResult(ask, id, waitMs);
}

/** `hma result ID`. */
export async function result(ask: Ask, words: Words): Promise<number> {
  const waitMs = waitOf(words, 0);
  if (typeof waitMs === 'string') return ask.misuse(waitMs);
  return showResult(ask, words.positionals[0] as string, waitMs);
}

/** Waits for a receipt, prints it, and tells the controller that it has arrived. */
async function showResult(ask: Ask, id: string, waitMs: number): Promise<number> {
  const until = performance.now() + waitMs;
  for (;;) {
    const left = Math.max(0, Math.min(longestPollMs, Math.round(until - performance.now())));
    const asked = await askController<ResultReply>(ask, agentRequests.result, {
      params: { id, waitMs: left },
      timeoutMs: left + answerMs,
    });
    if ('exit' in asked) return asked.exit;
    const { reply } = asked;
    if ('refused' in reply) return answerRefused(ask, reply.refused);
    if (reply.outcome === 'pending' && left === longestPollMs) continue;
    const printed = await answerWith(ask, reply, sayReceipt(reply));
    if (reply.outcome === 'pending') return sessionExit.pending;
    // the session may be ended as soon as it has seen its last receipt: say so only now that it is out
    if (printed) await ask.controller.tell(receiptSeen, { token: ask.token, id });
    return reply.outcome === 'accepted' ? sessionExit.accepted : sessionExit.rejected;
  }
}

/** `hma validate`. The validator has a time limit of its own, which the controller keeps. */
export async function validate(ask: Ask): Promise<number> {
  const asked = await askController<ValidateReply>(ask, agentRequests.validate, { timeoutMs: 24 * 3_600_000 });
  if ('exit' in asked) return asked.exit;
  if ('refused' in asked.reply) return answerRefused(ask, asked.reply.refused);
  const { outcome, text } = asked.reply;
  await answerWith(
    ask,
    asked.reply,
    `${outcome}${text.trim() === '' || text.trim() === outcome ? '' : `: ${text.trimEnd()}`}\n`,
  );
  return outcome === 'valid' ? sessionExit.accepted : sessionExit.rejected;
}

/** `hma status`. */
export async function status(ask: Ask): Promise<number> {
  const asked = await askController<StatusReply>(ask, agentRequests.status, {});
  if ('exit' in asked) return asked.exit;
  if ('refused' in asked.reply) return answerRefused(ask, asked.reply.refused);
  await answerWith(ask, asked.reply, sayStatus(asked.reply));
  return sessionExit.accepted;
}

/** `hma nominate ID --reason …`, in the final review. */
export async function nominate(ask: Ask, words: Words): Promise<number> {
  const reason = words.values['reason']?.trim() ?? '';
  if (reason === '') return ask.misuse('--reason must say in words why this candidate');
  if (reason.length > longestNote)
    return ask.misuse(`--reason has ${reason.length} characters; at most ${longestNote} are kept`);
  const candidate = words.positionals[0] as string;
  const asked = await askController<NominateReply>(ask, agentRequests.nominate, { params: { candidate, reason } });
  if ('exit' in asked) return asked.exit;
  if ('refused' in asked.reply) return answerRefused(ask, asked.reply.refused);
  await answerWith(ask, asked.reply, `nominated ${asked.reply.nominated}; the last valid nomination stands\n`);
  return sessionExit.accepted;
}
