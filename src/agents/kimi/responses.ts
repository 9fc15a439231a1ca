import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { countOf, fieldsOf, numberOf, textOf, type Fields } from '../fields.ts';
import { filesBelow, jsonLines } from '../jsonLines.ts';
import type { AttemptPlace, Response, ResponseReader } from '../port.ts';

/** Clocks of file systems are coarser than ours, ms. */
const coarseMs = 2000;

/** What was read of one agent's wire so far. */
interface Wire {
  model: string | null;
  last: Response | null;
}

/**
 * Responses from the wires, `~/.kimi-code/sessions/<workspace>/<session>/agents/<agent>/wire.jsonl`: `usage.record`, written when a model
 * call is over and before its tools run; the model stands in the `llm.request` before it. Kimi tells no count of reasoning (it is in the
 * output) and no id: agent and time stand for it. Calls of tools come after their response, so a response is told when the next
 * request or the end of the attempt is there.
 */
export function kimiResponses(place: AttemptPlace): ResponseReader {
  const wires = new Map<string, Wire>();
  const told = new Set<string>();
  const lines = jsonLines({ files: () => wiresSince(place) });
  return {
    async next(last) {
      const fresh: Response[] = [];
      const tell = (wire: Wire): void => {
        if (wire.last && !told.has(wire.last.id)) fresh.push(wire.last);
        if (wire.last) told.add(wire.last.id);
        wire.last = null;
      };
      await lines.look(last, (value, file) => {
        const wire = wires.get(file) ?? { model: null, last: null };
        wires.set(file, wire);
        read(wire, fieldsOf(value), { file, tell: () => tell(wire) });
      });
      if (last) for (const wire of wires.values()) tell(wire);
      return fresh;
    },
  };
}

function read(wire: Wire, line: Fields, given: { readonly file: string; readonly tell: () => void }): void {
  switch (line['type']) {
    case 'llm.request':
      given.tell();
      wire.model = textOf(line['model']) || wire.model;
      return;
    case 'usage.record':
      given.tell();
      wire.last = responseOf(wire, line, given.file);
      return;
    case 'context.append_loop_event':
      if (wire.last && fieldsOf(line['event'])['type'] === 'tool.call')
        wire.last = { ...wire.last, toolCalls: wire.last.toolCalls + 1 };
      return;
    case 'turn.ended':
      return given.tell();
    default:
  }
}

function responseOf(wire: Wire, line: Fields, file: string): Response {
  const usage = fieldsOf(line['usage']);
  const at = numberOf(line['time']) ?? 0;
  const [session, agent] = [basename(dirname(dirname(dirname(file)))), basename(dirname(file))];
  return {
    id: `${session}/${agent}@${at}`,
    at,
    model: wire.model,
    uncachedInput: countOf(usage['inputOther']),
    cachedInput: countOf(usage['inputCacheRead']),
    cacheWrite: countOf(usage['inputCacheCreation']),
    output: countOf(usage['output']),
    reasoning: 0,
    toolCalls: 0,
  };
}

/** Wires of this workspace's sessions that were begun since the attempt's start: in a HOME of the user's own there are others. */
async function wiresSince(place: AttemptPlace): Promise<string[]> {
  const root = join(place.home, '.kimi-code/sessions');
  const workspace = `wd_${basename(place.cwd).toLowerCase().slice(0, 8)}`;
  const files = await filesBelow(root, {
    matches: (path) => path.endsWith('/wire.jsonl') && path.toLowerCase().startsWith(workspace),
  });
  const times = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  const since = place.startedAt - coarseMs;
  return files.filter((_, index) => {
    const time = times[index];
    return time !== null && time !== undefined && (time.birthtimeMs || time.mtimeMs) >= since;
  });
}
