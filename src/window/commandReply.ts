import type { CommandEnd } from './hmaCommand.ts';

/** What `--json` prints when a command fails. */
interface CommandFailure {
  readonly error: { readonly code: string; readonly what: string; readonly fix: string };
}

/** Reads a command's JSON; undefined where it printed none. */
export function jsonOf<Shape>(end: CommandEnd): Shape | undefined {
  try {
    return JSON.parse(end.stdout) as Shape;
  } catch {
    return undefined;
  }
}

/** A failed command in words: what, and what to do. */
export function failureOf(end: CommandEnd): { readonly code: string; readonly text: string } {
  const said = jsonOf<CommandFailure>(end)?.error;
  if (said) return { code: said.code, text: `${said.what}. ${said.fix}` };
  return { code: 'failed', text: end.stderr.trim() || `hma ended with ${end.code} and without a word; see the log` };
}
