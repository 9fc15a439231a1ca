import { jsonLines, outputFiles } from '../jsonLines.ts';
import type { AttemptPlace, Response, ResponseReader } from '../port.ts';
import { reportedResponse } from './reported.ts';

/** Reads the responses that a program tells on its output (`hma.response` lines). */
export function responses(place: AttemptPlace): ResponseReader {
  const lines = jsonLines({ files: () => outputFiles(place.output) });
  const told = new Set<string>();
  return {
    async next(last) {
      const found: Response[] = [];
      await lines.look(last, (value) => {
        const response = reportedResponse(value, Date.now());
        if (!response || told.has(response.id)) return;
        told.add(response.id);
        found.push(response);
      });
      return found;
    },
  };
}
