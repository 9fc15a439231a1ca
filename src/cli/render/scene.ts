import type { Candidate } from '../../archive/model.ts';
import { authorName } from '../../archive/origin.ts';
import { record } from '../../archive/order.ts';
import { oneLine } from '../../base/oneLine.ts';
import type { LedgerEvent } from '../../ledger/port.ts';
import type { Option } from '../../options/model.ts';
import type { RunEvent } from '../../run/events.ts';
import type { RunState } from '../../run/model.ts';
import type { AgentSlot } from '../../task/model.ts';
import { sayClock } from '../../base/numbers.ts';
import type { Style } from './style.ts';
import { widthOf, wrap } from './text.ts';

/** What a live log is drawn with. */
export interface Paper {
  readonly style: Style;
  /** Columns of the terminal. */
  readonly columns: number;
}

/** One thing that happened: the states before and after it, and the event itself. */
export interface Happening {
  readonly before: RunState | null;
  readonly event: LedgerEvent;
  readonly after: RunState;
}

/** A happening and what it is drawn on. */
export interface Scene extends Happening, Paper {
  readonly known: RunEvent;
}

/** A run's agent as people see it: slot and name, in the agent's colour. */
export const sayAgent = (state: RunState, slot: AgentSlot, style: Style): string =>
  style.agent(slot, `${slot} ${oneLine(state.terms.agents[slot].name, 40)}`);

/** A candidate's author in the same way; one that is none of this run's agents by its name alone. */
export const sayAuthor = (state: RunState, candidate: Candidate, style: Style): string =>
  candidate.author === null
    ? oneLine(authorName(candidate, state.terms.agents), 40)
    : sayAgent(state, candidate.author, style);

/** A line of the log behind the active time of its event. */
export const stamped = ({ event, style }: Scene, text: string): string =>
  `${style.dim(sayClock(event.active).padStart(8))}  ${text}`;

/** Words that a person should be able to read to their end: broken into lines. */
export function told(scene: Scene, text: string, colour: (line: string) => string = (line) => line): string[] {
  const [first = '', ...rest] = wrap(text, scene.columns - 10);
  return [stamped(scene, colour(first)), ...rest.map((line) => `${' '.repeat(10)}${colour(line)}`)];
}

/** `── title ─────────` over the whole width. */
export function rule(title: string, { style, columns }: Paper): string {
  const head = `${style.dim('──')} ${title} `;
  return head + style.dim('─'.repeat(Math.max(2, Math.min(columns, 100) - widthOf(head))));
}

/** Best score of an option; undefined when none of its experiments was accepted. */
export function bestOf(state: RunState, option: Option): number | undefined {
  return record(
    state.archive.filter(({ id }) => option.accepted.includes(id)),
    state.terms.metric,
  )?.score;
}
