import { join } from 'node:path';

import { countOf, fieldsOf, listOf, textOf, type Fields } from '../fields.ts';
import { filesBelow, jsonLines, outputFiles } from '../jsonLines.ts';
import type { AttemptPlace, Response, ResponseReader } from '../port.ts';

/** Clocks of file systems are coarser than ours, ms. */
const coarseMs = 2000;

/**
 * Responses from the transcripts, `~/.gemini/tmp/<project>/chats/session-….jsonl`. A response is written twice under one id: when it is
 * over, and once more with its tools' results; it is told when something follows it, with the calls it then has. Calls of a small model
 * beside the session (which model to take, say) are in no transcript but in the sums that the last event gives: what these have more is
 * told as one response for each model, `side:<model>`; of a session that was killed they are not known.
 */
export function geminiResponses(place: AttemptPlace): ResponseReader {
  const chats = join(place.home, '.gemini/tmp');
  const files = (): Promise<string[]> =>
    filesBelow(chats, { matches: (path) => /(?:^|\/)chats\/.*\.jsonl$/u.test(path), depth: 4 });
  const lines = jsonLines({ files });
  const output = jsonLines({ files: () => outputFiles(place.output) });
  const told: Response[] = [];
  const open = new Map<string, Response>(); // by file: its last response, which may be written once more
  const ids = new Set<string>();
  const tell = (response: Response, fresh: Response[]): void => {
    if (ids.has(response.id)) return;
    ids.add(response.id);
    told.push(response);
    fresh.push(response);
  };
  return {
    async next(last) {
      const fresh: Response[] = [];
      await lines.look(last, (value, file) => {
        const line = fieldsOf(value);
        if (line['type'] === undefined) return; // `$set`: nothing that was said
        const before = open.get(file);
        const response = responseIn(line);
        if (before && before.id !== response?.id) {
          open.delete(file);
          tell(before, fresh);
        }
        if (response && response.at >= place.startedAt - coarseMs) open.set(file, response);
      });
      if (!last) return fresh;
      for (const response of open.values()) tell(response, fresh);
      open.clear();
      let stats: Fields = {};
      let at = 0;
      await output.look(true, (value) => {
        const line = fieldsOf(value);
        if (line['type'] !== 'result') return;
        stats = fieldsOf(fieldsOf(line['stats'])['models']);
        at = Date.parse(textOf(line['timestamp'])) || 0;
      });
      for (const response of beside(stats, told, at)) tell(response, fresh);
      return fresh;
    },
  };
}

function responseIn(line: Fields): Response | null {
  const id = textOf(line['id']);
  const tokens = fieldsOf(line['tokens']);
  if (line['type'] !== 'gemini' || id === '' || Object.keys(tokens).length === 0) return null;
  const cachedInput = countOf(tokens['cached']);
  const reasoning = countOf(tokens['thoughts']);
  return {
    id,
    at: Date.parse(textOf(line['timestamp'])) || 0,
    model: textOf(line['model']) || null,
    uncachedInput: Math.max(0, countOf(tokens['input']) - cachedInput) + countOf(tokens['tool']),
    cachedInput,
    cacheWrite: 0,
    output: countOf(tokens['output']) + reasoning,
    reasoning,
    toolCalls: listOf(line['toolCalls']).length,
  };
}

/** What the sums by model have beyond the responses that were told. */
function beside(models: Fields, told: readonly Response[], at: number): Response[] {
  return Object.entries(models).flatMap(([model, value]) => {
    const stats = fieldsOf(value);
    const [input, cached, output] = ['input_tokens', 'cached', 'output_tokens'].map((name) => countOf(stats[name]));
    const thoughts = Math.max(0, countOf(stats['total_tokens']) - (input ?? 0) - (output ?? 0));
    const own = told.filter((one) => one.model === model);
    const rest = (all: number, count: (one: Response) => number): number =>
      Math.max(0, all - own.reduce((sum, one) => sum + count(one), 0));
    const response = {
      uncachedInput: rest((input ?? 0) - (cached ?? 0), (one) => one.uncachedInput),
      cachedInput: rest(cached ?? 0, (one) => one.cachedInput),
      output: rest((output ?? 0) + thoughts, (one) => one.output),
      reasoning: rest(thoughts, (one) => one.reasoning),
    };
    if (response.uncachedInput + response.cachedInput + response.output === 0) return [];
    return [{ id: `side:${model}`, at, model, ...response, cacheWrite: 0, toolCalls: 0 }];
  });
}
