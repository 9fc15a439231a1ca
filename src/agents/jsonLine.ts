/** The value of one line; undefined where it is no JSON. */
export function parseJsonLine(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined; // a torn or foreign line: harnesses print plain text too
  }
}
