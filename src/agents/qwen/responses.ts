import { join } from 'node:path';

import { countOf, fieldsOf, listOf, numberOf, textOf, type Fields } from '../fields.ts';
import { filesBelow, jsonLines } from '../jsonLines.ts';
import type { AttemptPlace, Response, ResponseReader } from '../port.ts';

/** Clocks of file systems are coarser than ours, ms. */
const coarseMs = 2000;

/**
 * Responses from the transcripts, `~/.qwen/projects/<folder>/chats/<session>.jsonl`. A model call is told by a line `api_response` with
 * the provider's id, those of sub-agents and of small requests too, and, for the session's own, by a line `assistant` with its words
 * right after. Such a line without a call before it (another version) counts by itself.
 */
export function qwenResponses(place: AttemptPlace): ResponseReader {
  const lines = jsonLines({
    files: () =>
      filesBelow(join(place.home, '.qwen/projects'), { matches: (path) => /(?:^|\/)chats\/.*\.jsonl$/u.test(path) }),
  });
  const open = new Map<string, Response>(); // by file: the call whose words may follow
  const ids = new Set<string>();
  return {
    async next(last) {
      const fresh: Response[] = [];
      const tell = (response: Response | undefined): void => {
        if (!response || ids.has(response.id) || response.at < place.startedAt - coarseMs) return;
        ids.add(response.id);
        fresh.push(response);
      };
      await lines.look(last, (value, file) => {
        const line = fieldsOf(value);
        const call = callIn(line);
        const before = open.get(file);
        if (line['type'] === 'assistant') {
          open.delete(file);
          tell(before ? { ...before, toolCalls: callsIn(line) } : responseIn(line));
        } else if (call) {
          open.set(file, call);
          tell(before);
        }
      });
      if (last) for (const response of open.values()) tell(response);
      return fresh;
    },
  };
}

const timeOf = (line: Fields): number => Date.parse(textOf(line['timestamp'])) || 0;

/** A line of its telemetry about a finished model call. */
function callIn(line: Fields): Response | undefined {
  const event = fieldsOf(fieldsOf(line['systemPayload'])['uiEvent']);
  if (event['event.name'] !== 'qwen-code.api_response') return undefined;
  return {
    id: textOf(event['response_id']) || textOf(line['uuid']),
    at: timeOf(line),
    model: textOf(event['model']) || null,
    ...tokensOf({
      input: countOf(event['input_token_count']),
      cached: countOf(event['cached_content_token_count']),
      output: countOf(event['output_token_count']),
      thoughts: countOf(event['thoughts_token_count']),
      total: numberOf(event['total_token_count']),
    }),
    toolCalls: 0,
  };
}

/** What the session's own model said, with its counts. */
function responseIn(line: Fields): Response | undefined {
  const usage = fieldsOf(line['usageMetadata']);
  if (Object.keys(usage).length === 0) return undefined;
  return {
    id: textOf(line['uuid']),
    at: timeOf(line),
    model: textOf(line['model']) || null,
    ...tokensOf({
      input: countOf(usage['promptTokenCount']),
      cached: countOf(usage['cachedContentTokenCount']),
      output: countOf(usage['candidatesTokenCount']),
      thoughts: countOf(usage['thoughtsTokenCount']),
      total: numberOf(usage['totalTokenCount']),
    }),
    toolCalls: callsIn(line),
  };
}

const callsIn = (line: Fields): number =>
  listOf(fieldsOf(line['message'])['parts']).filter((part) => 'functionCall' in fieldsOf(part)).length;

/** Its counts without overlap. Whether the output includes the thoughts depends on the provider's protocol: the total tells. */
function tokensOf(counts: {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly thoughts: number;
  readonly total: number | null;
}): Pick<Response, 'uncachedInput' | 'cachedInput' | 'cacheWrite' | 'output' | 'reasoning'> {
  const { input, cached, output, thoughts, total } = counts;
  const beside = total !== null && total === input + output + thoughts;
  return {
    uncachedInput: Math.max(0, input - cached),
    cachedInput: cached,
    cacheWrite: 0,
    output: beside ? output + thoughts : output,
    reasoning: thoughts,
  };
}
