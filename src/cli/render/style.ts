import type { AgentSlot } from '../../task/model.ts';

/** How emphasis looks; every function gives back the text itself where colours are off. */
export interface Style {
  /** Whether there are any colours. */
  readonly colours: boolean;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  /** An agent's own colour, the same everywhere. */
  readonly agent: (slot: AgentSlot, text: string) => string;
}

const same = (text: string): string => text;

/** No colours: pipes, files, NO_COLOR, dumb terminals. */
export const plainStyle: Style = {
  colours: false,
  bold: same,
  dim: same,
  good: same,
  bad: same,
  warn: same,
  agent: (_, text) => text,
};

const sgr =
  (on: number, off: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`;
const cyan = sgr(36, 39);
const magenta = sgr(35, 39);

/** The terminal's own 16 colours, so that its theme decides. */
export const colourStyle: Style = {
  colours: true,
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  good: sgr(32, 39),
  bad: sgr(31, 39),
  warn: sgr(33, 39),
  agent: (slot, text) => (slot === 'A' ? cyan(text) : magenta(text)),
};

/** Whether to use colours: a terminal that isn't dumb, unless NO_COLOR is set (https://no-color.org); FORCE_COLOR overrides. */
export function styleFor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Style {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced === '0' || forced === 'false' ? plainStyle : colourStyle;
  if (env['NO_COLOR']) return plainStyle;
  return isTerminal && env['TERM'] !== 'dumb' ? colourStyle : plainStyle;
}
