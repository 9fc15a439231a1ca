import { paintSaid, SaidText } from '../agents/saidText.ts';
import { sayerOf, type Sayer } from '../agents/sayer.ts';
import type { Attempt, SessionName } from '../options/model.ts';
import type { RunState } from '../run/model.ts';

/** A session as its terminal shows it. */
export interface SessionView {
  readonly name: SessionName;
  /** The terminal's name: `3 · demo-builder`, `Review · claude`. Short, the part that tells it apart first: tabs are narrow. */
  readonly title: string;
  readonly slot: 'A' | 'B';
  readonly attempts: readonly Attempt[];
  /** How it ended, in words; null while it lasts. */
  readonly ended: string | null;
  /** How its harness's output is put into words; undefined where it is plain text. */
  readonly say?: Sayer | undefined;
}

/** One name for a session, for maps. */
export const sessionKey = (session: SessionName): string =>
  session.kind === 'review' ? 'review' : String(session.number);

/** All sessions of a run in order, the final review last. */
export function sessionsOf(state: RunState): SessionView[] {
  const named = (slot: 'A' | 'B'): string => state.terms.agents[slot].name;
  const options = state.options.map((option): SessionView => ({
    name: { kind: 'option', number: option.number },
    title: `${option.number} · ${named(option.agent)}`,
    slot: option.agent,
    attempts: option.attempts,
    ended: option.state === 'closed' ? (option.closure ?? 'natural') : null,
    say: sayOf(state, option.agent),
  }));
  const { review } = state;
  if (!review) return options;
  const last: SessionView = {
    name: { kind: 'review' },
    title: `Review · ${named(review.reviewer)}`,
    slot: review.reviewer,
    attempts: review.attempts,
    ended: review.state === 'closed' ? (review.outcome ?? 'natural') : null,
    say: sayOf(state, review.reviewer),
  };
  return [...options, last];
}

const sayOf = (state: RunState, slot: 'A' | 'B'): Sayer | undefined => sayerOf(state.terms.agents[slot].adapter);

/** Sessions that have a process to show, the latest first. */
export const shownSessions = (state: RunState): SessionView[] =>
  sessionsOf(state)
    .filter(({ attempts }) => attempts.length > 0)
    .toReversed();

const escape = '\u001b[';
/**
 * Ends what the session's output may have left on: colours, a hidden cursor, another screen, mouse reports. The cursor is saved
 * first: leaving a screen that was never entered would put it where it was last saved, the top.
 */
const plainAgain = `\u001b7${escape}0m${escape}?25h${escape}?1049l${escape}?1000l${escape}?1006l${escape}?2004l`;
const dim = (text: string): string => `${escape}2m${text}${escape}22m`;

/** The first line of an attempt: that nothing of an earlier context is in it. */
export function openingLine({ title, name }: SessionView, attempt: number): string {
  const what =
    attempt > 1
      ? `attempt ${attempt}, again with an empty context`
      : name.kind === 'review'
        ? 'the final review, by an agent with an empty context'
        : 'a new session with an empty context';
  return `${plainAgain}${dim(`── ${name.kind === 'review' ? '' : 'option '}${title}: ${what} ──`)}\r\n`;
}

/** The last line of an ended session. */
export const closingLine = (ended: string): string => `${plainAgain}\r\n${dim(`── session ended: ${ended} ──`)}\r\n`;

/** In the place of the beginning of a very long output. */
export const earlierLine = (bytes: number): string =>
  `${dim(`── ${bytes} bytes before this are in: hma log --session ──`)}\r\n`;

/** In the place of output that was not kept. */
export const gapLine = (bytes: number): string =>
  `${plainAgain}\r\n${dim(`── ${bytes} bytes of output are not kept ──`)}\r\n`;

/** Turns recorded output into what a terminal shows. */
export interface TerminalText {
  take(bytes: Uint8Array): string;
  /** Bytes are missing here. */
  gap(): void;
  /** What is left when the output is over. */
  end(): string;
}

/** What a session said, line by line, in the terminal's colours. `midLine`: the first bytes are the end of a line. */
export function saidText(say: Sayer, midLine: boolean): TerminalText {
  const said = new SaidText(say, midLine);
  const lines = (told: ReturnType<SaidText['take']>): string =>
    told
      .flatMap((line) => paintSaid(line, true))
      .map((line) => `${line}\r\n`)
      .join('');
  return { take: (bytes) => lines(said.take(bytes)), gap: () => said.gap(), end: () => lines(said.end()) };
}

/**
 * Recorded output as it is: UTF-8 across pieces, and a line feed alone becomes carriage return and line feed, as a
 * terminal's driver would have made it. Everything else is kept.
 */
export class OutputText implements TerminalText {
  #decoder = new TextDecoder();
  #endedWithReturn = false;

  take(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (text === '') return '';
    const whole = text.replace(/\r?\n/g, (end, at: number) =>
      end === '\r\n' || (at === 0 && this.#endedWithReturn) ? end : '\r\n',
    );
    this.#endedWithReturn = text.endsWith('\r');
    return whole;
  }

  gap(): void {
    this.#decoder = new TextDecoder();
  }

  end(): string {
    return '';
  }
}
