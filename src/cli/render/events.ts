import { handoffs } from '../../analysis/handoffs.ts';
import { record } from '../../archive/order.ts';
import { oneLine } from '../../base/oneLine.ts';
import type { LedgerEvent } from '../../ledger/port.ts';
import type { Option } from '../../options/model.ts';
import type { RunEvent } from '../../run/events.ts';
import type { RunState } from '../../run/model.ts';
import type { AgentSlot } from '../../task/model.ts';
import { compareScores, isBetter } from '../../task/quality.ts';
import { sparkline } from './bars.ts';
import { sayChange, sayClock, sayLength, sayScore } from './numbers.ts';
import type { Style } from './style.ts';
import { count, fit, pad, widthOf, wrap } from './text.ts';

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

/** A run's agent as people see it: slot and name, in the agent's colour. */
export const sayAgent = (state: RunState, slot: AgentSlot, style: Style): string => style.agent(slot, `${slot} ${oneLine(state.terms.agents[slot].name, 40)}`);

/**
 * The lines of the live log for one event: none for what is only bookkeeping, one for what a person follows. Never wider than the
 * paper. Pure: the same ledger always gives the same log.
 */
export function eventLines(happening: Happening, paper: Paper): string[] {
  const known = happening.event as RunEvent;
  const lines = linesOf({ ...happening, known, ...paper });
  return lines.map((line) => fit(line, paper.columns));
}

interface Scene extends Happening, Paper {
  readonly known: RunEvent;
}

function linesOf(scene: Scene): string[] {
  const { known, style, after } = scene;
  switch (known.type) {
    case 'run.opened':
      return opening(scene);
    case 'attempt.started':
    case 'attempt.ended':
      return attemptLines(scene, known);
    case 'experiment.accepted':
      return [acceptedLine(scene, known.data.id)];
    case 'experiment.rejected': {
      const { id, code, reason } = known.data;
      const blame = code === 'evaluator_error' ? style.bad(code) : style.warn(code);
      return [stamped(scene, `${pad(id, 4)} rejected  ${blame}: ${oneLine(reason, 400)}`)];
    }
    case 'option.reaped':
      return known.data.survivors.length > 0 ? [stamped(scene, style.bad(`${count(known.data.survivors.length, 'process', 'processes')} of option ${known.data.option} can't be ended: ${known.data.survivors.map((one) => `${one.pid} ${oneLine(one.command, 40)}`).join(', ')}`))] : [];
    case 'option.clean':
      return known.data.restored.length > 0 ? [stamped(scene, style.warn(`protected files were changed and put back: ${oneLine(known.data.restored.join(', '))}`))] : [];
    case 'option.closed':
      return closedLine(scene, known.data.option);
    case 'ballot.cast':
    case 'review.closed':
    case 'candidate.selected':
    case 'selection.cleared':
      return reviewLines(scene, known);
    case 'candidate.graded': {
      const { id, result } = known.data;
      const said = result.kind === 'graded' ? `graded ${style.bold(sayScore(result.grade))} by the hidden grader` : style.warn(`could not be graded: ${oneLine(result.reason)}`);
      return [stamped(scene, `${pad(id, 4)} ${said}`)];
    }
    case 'controller.started':
      return after.controller.starts > 1 ? [stamped(scene, style.warn(`the controller started again${known.data.gapMs > 0 ? `; ${sayLength(known.data.gapMs)} in which nothing of the run lived don't count` : ''}`))] : [];
    default:
      return runLines(scene, known);
  }
}

function runLines(scene: Scene, known: RunEvent): string[] {
  const { style } = scene;
  switch (known.type) {
    case 'run.paused':
      return told(scene, `paused (${sayWord(known.data.reason)}): ${oneLine(known.data.detail, 600)}`, style.warn);
    case 'run.resumed':
      return [stamped(scene, `goes on (${oneLine(known.data.by, 40)})`)];
    case 'run.pauseAfter':
      return [stamped(scene, known.data.wanted ? 'will pause after this session' : 'will not pause after this session')];
    case 'budget.changed': {
      const { totalMs, reviewMs, experiments } = known.data.budgets;
      return [stamped(scene, `budgets are now ${sayLength(totalMs)} in all, ${sayLength(reviewMs)} for the review, ${experiments === null ? 'any number of experiments' : count(experiments, 'experiment')}`)];
    }
    case 'exploration.ending':
      return [stamped(scene, `exploration ends: ${sayExplorationEnd[known.data.reason] ?? known.data.reason}`)];
    case 'run.stopping':
      return [stamped(scene, `${oneLine(known.data.by, 40)} stops the run`)];
    case 'run.noticed': {
      const { level, text } = known.data;
      return told(scene, `${level === 'info' ? '' : '! '}${oneLine(text, 600)}`, level === 'info' ? style.dim : level === 'person' ? style.bad : style.warn);
    }
    case 'run.finished':
      return [stamped(scene, `the run is over: ${sayExplorationEnd[known.data.reason] ?? sayWord(known.data.reason)}`)];
    default:
      return [];
  }
}

/** A code as words: `usage_limit` → `usage limit`. */
export const sayWord = (code: string): string => code.replaceAll('_', ' ');

/** Why exploration ended, for people. */
const sayExplorationEnd: Readonly<Record<string, string>> = {
  deadline: 'its time is used up',
  budget: 'the experiments are used up',
  barren: 'too many sessions in a row without an accepted experiment',
  requested: 'a person asked for the review',
  stopped: 'a person stopped the run',
};

const stamped = ({ event, style }: Scene, text: string): string => `${style.dim(sayClock(event.active).padStart(8))}  ${text}`;

/** Words that a person should be able to read to their end: broken into lines. */
function told(scene: Scene, text: string, colour: (line: string) => string = (line) => line): string[] {
  const [first = '', ...rest] = wrap(text, scene.columns - 10);
  return [stamped(scene, colour(first)), ...rest.map((line) => `${' '.repeat(10)}${colour(line)}`)];
}

/** `── title ─────────` over the whole width. */
export function rule(title: string, { style, columns }: Paper): string {
  const head = `${style.dim('──')} ${title} `;
  return head + style.dim('─'.repeat(Math.max(2, Math.min(columns, 100) - widthOf(head))));
}

function opening(scene: Scene): string[] {
  const { after, style } = scene;
  const { terms, budgets, isolation } = after;
  const { cap, mode } = terms.policy;
  const pair = mode === 'single' ? sayAgent(after, terms.policy.first, style) : `${sayAgent(after, 'A', style)} ⇄ ${sayAgent(after, 'B', style)}`;
  const limits = [
    `${oneLine(terms.metric.name, 40)}, ${terms.metric.direction === 'maximize' ? 'higher' : 'lower'} is better`,
    mode === 'single' ? 'one agent' : cap === null ? 'no cap' : `cap ${cap}`,
    budgets.experiments === null ? null : `${count(budgets.experiments, 'experiment')} in all`,
    mode === 'single' ? sayLength(budgets.totalMs) : `${sayLength(budgets.totalMs)} with ${sayLength(budgets.reviewMs)} for the review`,
  ].filter((part) => part !== null);
  const bare = isolation.tier === 'none' ? wrap(`Nothing is isolated: ${oneLine(isolation.cannot.join(' '), 900)}`, Math.min(scene.columns, 100) - 2, { most: 4 }) : [];
  return [
    `${style.bold(oneLine(terms.name, 60))}  ${pair}`,
    style.dim(`  ${limits.join(' · ')}`),
    style.dim(`  isolation: ${isolation.tier}${bare.length > 0 ? '' : " (what it can't protect: hma status)"} · run ${after.run}`),
    ...bare.map((line) => style.warn(`  ${line}`)),
  ];
}

type AttemptEvent = Extract<RunEvent, { type: 'attempt.started' | 'attempt.ended' }>;

function attemptLines(scene: Scene, known: AttemptEvent): string[] {
  const { session, attempt } = known.data;
  const never = known.type === 'attempt.ended' && attemptsOf(scene.before, session).find((one) => one.number === attempt)?.state === 'starting';
  const head = attempt === 1 && (known.type === 'attempt.started' || never) ? sessionHead(scene, session) : [];
  if (known.type === 'attempt.started') return attempt === 1 ? head : [stamped(scene, `attempt ${attempt} starts, with an empty context`)];
  const { failure, retryAt } = known.data;
  if (failure === null) return head;
  const again = retryAt === null ? '' : retryAt > known.active ? `; another attempt in ${sayLength(retryAt - known.active)}` : '; another attempt at once';
  return [...head, ...told(scene, `attempt ${attempt} failed (${sayWord(failure.reason)}): ${oneLine(failure.detail, 400)}${again}`, scene.style.warn)];
}

type SessionName = AttemptEvent['data']['session'];

const attemptsOf = (state: RunState | null, session: SessionName) => (session.kind === 'review' ? state?.review?.attempts : state?.options.find((option) => option.number === session.number)?.attempts) ?? [];

function sessionHead(scene: Scene, session: SessionName): string[] {
  const { after, style } = scene;
  const boundary = handoffs(after).find((row) => row.to === (session.kind === 'review' ? 'review' : session.number));
  const ended = boundary && boundary.processesEnded > 0 ? ` (${count(boundary.processesEnded, 'process', 'processes')} ended)` : '';
  const handoff = boundary?.ms === null || boundary?.ms === undefined ? '' : style.dim(` · handoff ${sayLength(boundary.ms)}${ended}`);
  if (session.kind === 'review') {
    const reviewer = after.review ? sayAgent(after, after.review.reviewer, style) : '';
    return ['', rule(`${style.bold('final review')} · ${reviewer} looks at ${count(after.archive.length, 'candidate')}${handoff}`, scene)];
  }
  const option = after.options.find((one) => one.number === session.number);
  return ['', rule(`${style.bold(`option ${session.number}`)} · ${option ? sayAgent(after, option.agent, style) : ''}${handoff}`, scene)];
}

function acceptedLine(scene: Scene, id: string): string {
  const { before, after, style } = scene;
  const { metric } = after.terms;
  const index = after.archive.findIndex((one) => one.id === id);
  const candidate = after.archive[index];
  if (!candidate) return stamped(scene, `${pad(id, 4)} accepted`);
  const best = before ? record(before.archive, metric) : undefined;
  const isRecord = isBetter(metric, candidate.score, best?.score);
  const change = best ? sayChange(best.score, candidate.score) : '';
  const verdict = !best ? 'first candidate' : isRecord ? style.good(`new record ${change}`) : style.dim(againstRecord(metric, candidate.score, best.score));
  const bars = sparkline(metric, after.archive.slice(0, index + 1).map((one) => one.score), 12);
  const flags = candidate.flags.length > 0 ? style.warn(`  ${candidate.flags.map(sayWord).join(', ')}`) : '';
  const note = candidate.note ? style.dim(`  ${oneLine(candidate.note, 80)}`) : '';
  const score = pad(sayScore(candidate.score), 9, 'right');
  return stamped(scene, `${pad(id, 4)} accepted ${isRecord ? style.bold(score) : score}  ${style.agent(candidate.author, pad(bars, 12))}  ${verdict}${flags}${note}`);
}

/** How a score that is no new record stands to it: behind, equal, or ahead by no more than noise. */
function againstRecord(metric: RunState['terms']['metric'], score: number, best: number): string {
  const order = compareScores(metric, score, best);
  if (order === 0) return 'equals the record';
  const size = sayChange(best, score).slice(1);
  return order < 0 ? `${size} ahead, within the noise` : `${size} behind the record`;
}

/** Best score of an option; undefined when none of its experiments was accepted. */
export function bestOf(state: RunState, option: Option): number | undefined {
  return record(state.archive.filter((candidate) => candidate.option === option.number), state.terms.metric)?.score;
}

function closedLine(scene: Scene, number: number): string[] {
  const { after, style } = scene;
  const option = after.options.find((one) => one.number === number);
  if (!option) return [];
  const rejected = after.experiments.filter((one) => one.option === number && one.state === 'rejected').length;
  const best = bestOf(after, option);
  const parts = [
    `option ${number} ended: ${sayWord(option.closure ?? 'natural')}`,
    `${option.accepted.length} accepted${rejected > 0 ? `, ${rejected} rejected` : ''}`,
    ...(best === undefined ? [] : [`best ${sayScore(best)}`]),
    sayLength((option.endingAt ?? scene.event.active) - option.openedAt),
  ];
  return [stamped(scene, style.dim(parts.join(' · ')))];
}

type ReviewEvent = Extract<RunEvent, { type: 'ballot.cast' | 'review.closed' | 'candidate.selected' | 'selection.cleared' }>;

function reviewLines(scene: Scene, known: ReviewEvent): string[] {
  const { after, style } = scene;
  switch (known.type) {
    case 'ballot.cast': {
      const who = oneLine(after.review ? after.terms.agents[after.review.reviewer].name : 'the reviewer', 40);
      return known.data.valid ? told(scene, `${who} nominates ${known.data.candidate}: ${oneLine(known.data.reason, 600)}`) : told(scene, `a ballot that isn't valid: ${oneLine(known.data.why)}`, style.warn);
    }
    case 'review.closed':
      return [stamped(scene, style.dim(`review: ${known.data.outcome}${known.data.outcome === 'skipped' || known.data.outcome === 'late' || known.data.outcome === 'crashed' ? ` (${oneLine(known.data.detail)})` : ''}`))];
    case 'candidate.selected': {
      const { candidate, by, who, reason } = known.data;
      const chooser = by === 'person' ? `${oneLine(who, 40)}, a person` : by === 'reviewer' ? `the reviewer ${oneLine(who, 40)}` : 'fallback';
      return [stamped(scene, style.bold(`★ ${candidate} is the final candidate, by ${chooser}`)), ...wrap(oneLine(reason, 600), scene.columns - 12).map((line) => `${' '.repeat(12)}${line}`)];
    }
    case 'selection.cleared':
      return [stamped(scene, `${oneLine(known.data.who, 40)} cleared the selection: ${oneLine(known.data.reason)}`)];
  }
}
