import { homedir } from 'node:os';
import { join } from 'node:path';

import { countOf, fieldsOf, listOf, textOf, type Fields } from '../fields.ts';
import { filesBelow, jsonLines, outputFiles } from '../jsonLines.ts';
import type { AttemptPlace, Response, ResponseReader } from '../port.ts';

/**
 * A session's responses from its transcripts, `~/.claude/projects/<cwd>/<session>.jsonl`, those of sub-agents below `<session>/subagents`
 * included. A message has one line per content block, all with its id and its usage; it is told once, when a later line of its file
 * shows that it is whole.
 *
 * Calls that are in no transcript (judging a goal, summaries) are in the harness's own sum per model, in the `result` of each turn: what
 * that has beyond the transcripts is told as one more response per model, `beyond:<model>`, at the end.
 */
export function claudeResponses(place: AttemptPlace): ResponseReader {
  const own = place.home !== homedir();
  const isMine = (path: string): boolean => path.endsWith('.jsonl') && (own || path.includes(place.sessionId));
  const transcripts = jsonLines({
    files: () => filesBelow(join(place.home, '.claude/projects'), { matches: isMine }),
  });
  const output = jsonLines({ files: () => outputFiles(place.output) });
  const book = new Book();
  return {
    async next(last) {
      await transcripts.look(last, (value, file) => book.transcriptLine(fieldsOf(value), file));
      await output.look(last, (value) => book.outputLine(fieldsOf(value)));
      return last ? [...book.takeAll(), ...book.beyond()] : book.take();
    },
  };
}

/** Sums per model. */
type Sums = Pick<Response, 'uncachedInput' | 'cachedInput' | 'cacheWrite' | 'output' | 'reasoning'>;

class Book {
  /** The message that a file's last lines belong to, and its tools' ids: more lines of it may come. */
  readonly #open = new Map<string, { response: Response; tools: Set<string> }>();
  readonly #told = new Set<string>();
  readonly #sums = new Map<string, Sums>();
  #ready: Response[] = [];
  #totals: Fields = {};
  #totalsAt = 0;
  #beyondTold = false;

  transcriptLine(line: Fields, file: string): void {
    const message = fieldsOf(line['message']);
    const open = this.#open.get(file);
    if (line['type'] !== 'assistant') {
      if (line['type'] === 'user' && open) this.#close(file);
      return;
    }
    const model = textOf(message['model']);
    if (model === '<synthetic>') return; // Claude Code's own words, such as an error
    const id = textOf(message['id']) || textOf(line['requestId']) || textOf(line['uuid']);
    if (open && open.response.id !== id) this.#close(file);
    if (id === '' || this.#told.has(id) || message['stop_reason'] === null) return; // cut off: never completed
    const tools = open?.response.id === id ? open.tools : new Set<string>();
    for (const block of listOf(message['content']).map(fieldsOf))
      if (block['type'] === 'tool_use') tools.add(textOf(block['id']));
    const at = open?.response.id === id ? open.response.at : Date.parse(textOf(line['timestamp'])) || 0;
    const usage = fieldsOf(message['usage']);
    const response: Response = { id, at, model: model || null, ...sumsOf(usage), toolCalls: tools.size };
    this.#open.set(file, { response, tools });
  }

  outputLine(line: Fields): void {
    if (line['type'] !== 'result' || line['modelUsage'] === undefined) return;
    this.#totals = fieldsOf(line['modelUsage']);
    this.#totalsAt = Date.now();
  }

  take(): Response[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  takeAll(): Response[] {
    for (const file of [...this.#open.keys()]) this.#close(file);
    return this.take();
  }

  /** What the harness counted beyond what it wrote down. */
  beyond(): Response[] {
    if (this.#beyondTold) return [];
    this.#beyondTold = true;
    return Object.entries(this.#totals).flatMap(([model, total]) => {
      const more = difference(totalsOf(fieldsOf(total)), this.#sums.get(model) ?? none);
      return more.uncachedInput + more.cachedInput + more.cacheWrite + more.output === 0
        ? []
        : [{ id: `beyond:${model}`, at: this.#totalsAt, model, ...more, toolCalls: 0 }];
    });
  }

  #close(file: string): void {
    const open = this.#open.get(file);
    this.#open.delete(file);
    if (!open || this.#told.has(open.response.id)) return;
    this.#told.add(open.response.id);
    this.#ready.push(open.response);
    const model = open.response.model ?? '';
    this.#sums.set(model, plus(this.#sums.get(model) ?? none, open.response));
  }
}

const none: Sums = { uncachedInput: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };

const sumsOf = (usage: Fields): Sums => ({
  uncachedInput: countOf(usage['input_tokens']),
  cachedInput: countOf(usage['cache_read_input_tokens']),
  cacheWrite: countOf(usage['cache_creation_input_tokens']),
  output: countOf(usage['output_tokens']),
  reasoning: countOf(fieldsOf(usage['output_tokens_details'])['thinking_tokens']),
});

/** The same of an entry of `modelUsage`. */
const totalsOf = (usage: Fields): Sums => ({
  uncachedInput: countOf(usage['inputTokens']),
  cachedInput: countOf(usage['cacheReadInputTokens']),
  cacheWrite: countOf(usage['cacheCreationInputTokens']),
  output: countOf(usage['outputTokens']),
  reasoning: countOf(usage['thinkingTokens']),
});

const combined = (a: Sums, b: Sums, combine: (one: number, other: number) => number): Sums => ({
  uncachedInput: combine(a.uncachedInput, b.uncachedInput),
  cachedInput: combine(a.cachedInput, b.cachedInput),
  cacheWrite: combine(a.cacheWrite, b.cacheWrite),
  output: combine(a.output, b.output),
  reasoning: combine(a.reasoning, b.reasoning),
});
const plus = (a: Sums, b: Sums): Sums => combined(a, b, (one, other) => one + other);
const difference = (a: Sums, b: Sums): Sums => combined(a, b, (one, other) => Math.max(0, one - other));
