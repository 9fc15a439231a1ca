import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { countOf, fieldsOf, textOf, type Fields } from '../fields.ts';
import { filesBelow, jsonLines } from '../jsonLines.ts';
import type { AttemptPlace, Response, ResponseReader } from '../port.ts';

/** Clocks of file systems are coarser than ours, ms. */
const coarseMs = 2000;

/** Tools' calls as a rollout names them. */
const calls: ReadonlySet<string> = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'web_search_call',
  'tool_search_call',
  'image_generation_call',
]);

/** What was read of one rollout so far. */
interface Thread {
  /** Whether it belongs to the attempt: begun in its folder and not before it. */
  readonly ours: boolean;
  readonly id: string;
  model: string | null;
  /** Calls since the last record. */
  toolCalls: number;
  records: number;
}

/**
 * Responses from the rollouts, `$CODEX_HOME/sessions/<year>/<month>/<day>/rollout-….jsonl`, one a thread: those of agents that Codex
 * started too. Each model call has a `token_usage_record`, which is written as soon as the call is over; its input includes what came
 * from the cache and what was put there, its output includes reasoning. The model stands in the `turn_context` before it.
 */
export function codexResponses(place: AttemptPlace): ResponseReader {
  const threads = new Map<string, Thread>();
  const told = new Set<string>();
  const lines = jsonLines({ files: () => rolloutsSince(join(place.home, '.codex/sessions'), place.startedAt) });
  return {
    async next(last) {
      const fresh: Response[] = [];
      await lines.look(last, (value, file) => {
        const line = fieldsOf(value);
        const payload = fieldsOf(line['payload']);
        if (line['type'] === 'session_meta' && !threads.has(file)) threads.set(file, threadOf(payload, place));
        const thread = threads.get(file);
        if (!thread?.ours) return;
        const response = responseIn(thread, line, payload);
        if (!response || told.has(response.id)) return;
        told.add(response.id);
        fresh.push(response);
      });
      return fresh;
    },
  };
}

async function rolloutsSince(sessions: string, startedAt: number): Promise<string[]> {
  const files = await filesBelow(sessions, { matches: (path) => /(?:^|\/)rollout-[^/]*\.jsonl$/u.test(path) });
  const written = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  return files.filter((_, index) => (written[index]?.mtimeMs ?? 0) >= startedAt - coarseMs);
}

function threadOf(meta: Fields, place: AttemptPlace): Thread {
  const begun = Date.parse(textOf(meta['timestamp']));
  const ours = textOf(meta['cwd']) === place.cwd && begun >= place.startedAt - coarseMs;
  return { ours, id: textOf(meta['id']), model: null, toolCalls: 0, records: 0 };
}

function responseIn(thread: Thread, line: Fields, payload: Fields): Response | null {
  switch (line['type']) {
    case 'turn_context':
      thread.model = textOf(payload['model']) || thread.model;
      return null;
    case 'response_item':
      if (calls.has(textOf(payload['type']))) thread.toolCalls += 1;
      return null;
    case 'token_usage_record': {
      const { toolCalls } = thread;
      thread.toolCalls = 0;
      thread.records += 1;
      const id = textOf(payload['response_id']) || `${thread.id}#${thread.records}`;
      const at = Date.parse(textOf(line['timestamp']));
      return {
        id,
        at: Number.isNaN(at) ? 0 : at,
        model: thread.model,
        ...tokensOf(fieldsOf(payload['usage'])),
        toolCalls,
      };
    }
    default:
      return null;
  }
}

/** Codex's counts in our words: without overlap. */
export function tokensOf(
  usage: Fields,
): Pick<Response, 'uncachedInput' | 'cachedInput' | 'cacheWrite' | 'output' | 'reasoning'> {
  const cachedInput = countOf(usage['cached_input_tokens']);
  const cacheWrite = countOf(usage['cache_write_input_tokens']);
  return {
    uncachedInput: Math.max(0, countOf(usage['input_tokens']) - cachedInput - cacheWrite),
    cachedInput,
    cacheWrite,
    output: countOf(usage['output_tokens']),
    reasoning: countOf(usage['reasoning_output_tokens']),
  };
}
