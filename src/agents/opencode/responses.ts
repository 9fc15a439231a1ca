import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type * as sqlite from 'node:sqlite';

import { countOf, fieldsOf, numberOf, textOf } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import type { AttemptPlace, Response, ResponseReader } from '../port.ts';

/** Clocks of file systems are coarser than ours, ms. */
const coarseMs = 2000;

/** Finished steps of the sessions in a folder and of those that they began, and how many tools each called. Source: opencode's schema, 1.18. */
const steps = `
  SELECT part.id AS id, part.time_created AS at, part.data AS data, message.data AS message,
    (SELECT count(*) FROM part AS tool WHERE tool.message_id = part.message_id AND json_extract(tool.data, '$.type') = 'tool') AS tools
  FROM part JOIN message ON message.id = part.message_id JOIN session ON session.id = part.session_id
  WHERE json_extract(part.data, '$.type') = 'step-finish' AND part.time_created >= ? AND session.directory = ?
  ORDER BY part.time_created, part.id`;

/**
 * Responses from opencode's SQLite, `~/.local/share/opencode/opencode.db`: one `step-finish` part for each model call, its own
 * sub-agents' too. opencode writes it when the step's tools are done, so what a session's last call cost is not known when it was ended
 * in the middle of a tool. A file that is busy or no database gives nothing at that look.
 */
export function opencodeResponses(place: AttemptPlace): ResponseReader {
  const file = join(place.home, '.local/share/opencode/opencode.db');
  const ids = new Set<string>();
  return {
    async next() {
      const there = await lstat(file).catch(() => null); // a FIFO would block, a link could lead anywhere
      const rows = there?.isFile() ? rowsOf(file, [place.startedAt - coarseMs, place.cwd]) : [];
      return rows.flatMap((row) => {
        const id = textOf(row['id']);
        if (ids.has(id)) return [];
        ids.add(id);
        return [responseOf(row)];
      });
    },
  };
}

type Row = Readonly<Record<string, unknown>>;

function rowsOf(file: string, given: readonly [since: number, folder: string]): readonly Row[] {
  const module = sqliteModule();
  if (!module) return [];
  try {
    const database = new module.DatabaseSync(file, { readOnly: true, timeout: 500 });
    try {
      return database.prepare(steps).all(...given);
    } finally {
      database.close();
    }
  } catch {
    return []; // busy, half made, or of another version: the next look may do better
  }
}

/** Node's own SQLite; null where it has none. Its warning that it is experimental is nobody's business and is left out. */
function sqliteModule(): typeof sqlite | null {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite');
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function responseOf(row: Row): Response {
  const tokens = fieldsOf(fieldsOf(parseJsonLine(textOf(row['data'])))['tokens']);
  const cache = fieldsOf(tokens['cache']);
  const reasoning = countOf(tokens['reasoning']);
  return {
    id: textOf(row['id']),
    at: numberOf(row['at']) ?? 0,
    model: textOf(fieldsOf(parseJsonLine(textOf(row['message'])))['modelID']) || null,
    uncachedInput: countOf(tokens['input']),
    cachedInput: countOf(cache['read']),
    cacheWrite: countOf(cache['write']),
    output: countOf(tokens['output']) + reasoning,
    reasoning,
    toolCalls: countOf(row['tools']),
  };
}
