import { oneLine } from '../base/oneLine.ts';
import { Worker } from 'node:worker_threads';
import { ok, refused, type Result } from '../base/result.ts';

/** A pattern may take this long; a catastrophic one would take hours. */
const matchMs = 2000;

/** Runs in a worker thread, so that a catastrophic pattern can be ended and blocks nobody meanwhile. */
const matcher = `
const { parentPort, workerData } = require('node:worker_threads');
const found = [];
try {
  for (const match of workerData.text.matchAll(new RegExp(workerData.pattern, 'gmu'))) {
    found.push(match.length > 1 ? match[1] ?? null : match[0]);
    if (found.length > 1) break;
  }
  parentPort.postMessage({ found });
} catch (cause) {
  parentPort.postMessage({ error: cause.message });
}
`;

type Answer = { readonly found: readonly (string | null)[] } | { readonly error: string };

/**
 * The one match of a regular expression (flags `m` and `u`) in a text: its first group, or all of it where it has none. Refused,
 * in words for the task's author, when it matches nothing or more than once, is no regular expression, or takes longer than 2 s.
 */
export async function matchPattern(pattern: string, text: string): Promise<Result<string, string>> {
  const worker = new Worker(matcher, { eval: true, workerData: { pattern, text }, env: {}, execArgv: [] });
  const { promise, resolve } = Promise.withResolvers<Answer | 'late'>();
  const timer = setTimeout(() => resolve('late'), matchMs);
  worker.once('message', (answer: Answer) => resolve(answer));
  worker.once('error', (cause) => resolve({ error: cause.message }));
  try {
    const answer = await promise;
    if (answer === 'late')
      return refused(`the pattern took longer than ${matchMs / 1000} s on the output; make it simpler`);
    if ('error' in answer) return refused(`the pattern can't be used: ${answer.error}`);
    if (answer.found.length > 1)
      return refused(`the pattern /${oneLine(pattern, 80)}/ matches the output more than once; a result is given once`);
    const [value] = answer.found;
    if (value === undefined) return refused(`the pattern /${oneLine(pattern, 80)}/ matches nothing in the output`);
    if (value === null) return refused("the pattern's group took no part in the match");
    return ok(value);
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
