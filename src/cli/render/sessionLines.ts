import { handoffs } from '../../analysis/handoffs.ts';
import { sumOf } from '../../analysis/usage.ts';
import { sayCaps } from '../../analysis/usageWords.ts';
import { sayEarlier } from '../../analysis/words.ts';
import { record } from '../../archive/order.ts';
import { oneLine } from '../../base/oneLine.ts';
import { count, sayWord } from '../../base/words.ts';
import { tokensOf } from '../../options/usage.ts';
import type { RunEvent } from '../../run/events.ts';
import type { EarlierRun, RunState } from '../../run/model.ts';
import { compareScores, isBetter } from '../../task/quality.ts';
import { sparkline } from './bars.ts';
import { sayChange, sayLength, sayScore, sayTokens } from '../../base/numbers.ts';
import { bestOf, rule, sayAgent, stamped, told, type Scene } from './scene.ts';
import { pad, wrap } from './text.ts';

/** What a run is, before anything happens in it. */
export function opening(scene: Scene): string[] {
  const { after, style } = scene;
  const { terms, budgets, isolation } = after;
  const { cap, mode } = terms.policy;
  const pair =
    mode === 'single'
      ? sayAgent(after, terms.policy.first, style)
      : `${sayAgent(after, 'A', style)} ⇄ ${sayAgent(after, 'B', style)}`;
  const limits = [
    `${oneLine(terms.metric.name, 40)}, ${terms.metric.direction === 'maximize' ? 'higher' : 'lower'} is better`,
    mode === 'single' ? 'one agent' : cap === null ? 'no cap' : `cap ${cap}`,
    budgets.experiments === null ? null : `${count(budgets.experiments, 'experiment')} in all`,
    ...sayCaps(budgets),
    mode === 'single'
      ? sayLength(budgets.totalMs)
      : `${sayLength(budgets.totalMs)} with ${sayLength(budgets.reviewMs)} for the review`,
  ].filter((part) => part !== null);
  const bare =
    isolation.tier === 'none'
      ? wrap(`Nothing is isolated: ${oneLine(isolation.cannot.join(' '), 900)}`, Math.min(scene.columns, 100) - 2, {
          most: 4,
        })
      : [];
  return [
    `${style.bold(oneLine(terms.name, 60))}  ${pair}`,
    style.dim(`  ${limits.join(' · ')}`),
    style.dim(
      `  isolation: ${isolation.tier}${bare.length > 0 ? '' : " (what it can't protect: hma status)"} · run ${after.run}`,
    ),
    ...(after.from ? [style.dim(`  ${sayBeginning(after.from, terms)}`)] : []),
    ...bare.map((line) => style.warn(`  ${line}`)),
  ];
}

/** Where the run goes on from, and who begins. */
export const sayBeginning = (from: EarlierRun, { agents, policy }: RunState['terms']): string =>
  `${sayEarlier(from)} · ${oneLine(agents[policy.first].name, 40)} begins`;

type AttemptEvent = Extract<RunEvent, { type: 'attempt.started' | 'attempt.ended' }>;

/** Starts and ends of attempts; the first start of a session brings its heading. */
export function attemptLines(scene: Scene, known: AttemptEvent): string[] {
  const { session, attempt } = known.data;
  const never =
    known.type === 'attempt.ended' &&
    attemptsOf(scene.before, session).find((one) => one.number === attempt)?.state === 'starting';
  const head = attempt === 1 && (known.type === 'attempt.started' || never) ? sessionHead(scene, session) : [];
  if (known.type === 'attempt.started')
    return attempt === 1 ? head : [stamped(scene, `attempt ${attempt} starts, with an empty context`)];
  const { failure, retryAt } = known.data;
  if (failure === null) return head;
  const again =
    retryAt === null
      ? ''
      : retryAt > known.active
        ? `; another attempt in ${sayLength(retryAt - known.active)}`
        : '; another attempt at once';
  return [
    ...head,
    ...told(
      scene,
      `attempt ${attempt} failed (${sayWord(failure.reason)}): ${oneLine(failure.detail, 400)}${again}`,
      scene.style.warn,
    ),
  ];
}

type SessionName = AttemptEvent['data']['session'];

const attemptsOf = (state: RunState | null, session: SessionName) =>
  (session.kind === 'review'
    ? state?.review?.attempts
    : state?.options.find((option) => option.number === session.number)?.attempts) ?? [];

function sessionHead(scene: Scene, session: SessionName): string[] {
  const { after, style } = scene;
  const boundary = handoffs(after).find((row) => row.to === (session.kind === 'review' ? 'review' : session.number));
  const ended =
    boundary && boundary.processesEnded > 0 ? ` (${count(boundary.processesEnded, 'process', 'processes')} ended)` : '';
  const handoff =
    boundary?.ms === null || boundary?.ms === undefined
      ? ''
      : style.dim(` · handoff ${sayLength(boundary.ms)}${ended}`);
  if (session.kind === 'review') {
    const reviewer = after.review ? sayAgent(after, after.review.reviewer, style) : '';
    return [
      '',
      rule(
        `${style.bold('final review')} · ${reviewer} looks at ${count(after.archive.length, 'candidate')}${handoff}`,
        scene,
      ),
    ];
  }
  const option = after.options.find((one) => one.number === session.number);
  return [
    '',
    rule(
      `${style.bold(`option ${session.number}`)} · ${option ? sayAgent(after, option.agent, style) : ''}${handoff}`,
      scene,
    ),
  ];
}

/** How an option ended. */
export function closedLine(scene: Scene, number: number): string[] {
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
    ...(option.usage.length === 0 ? [] : [`${sayTokens(tokensOf(sumOf(option.usage)))} tokens`]),
  ];
  return [stamped(scene, style.dim(parts.join(' · ')))];
}

/** An accepted experiment against the record, with the scores so far as bars. */
export function acceptedLine(scene: Scene, id: string): string {
  const { before, after, style } = scene;
  const { metric } = after.terms;
  const index = after.archive.findIndex((one) => one.id === id);
  const candidate = after.archive[index];
  if (!candidate) return stamped(scene, `${pad(id, 4)} accepted`);
  const best = before ? record(before.archive, metric) : undefined;
  const isRecord = isBetter(metric, candidate.score, best?.score);
  const change = best ? sayChange(best.score, candidate.score) : '';
  const verdict = !best
    ? 'first candidate'
    : isRecord
      ? style.good(`new record ${change}`)
      : style.dim(againstRecord(metric, candidate.score, best.score));
  const bars = sparkline(
    metric,
    after.archive.slice(0, index + 1).map((one) => one.score),
    12,
  );
  const flags = candidate.flags.length > 0 ? style.warn(`  ${candidate.flags.map(sayWord).join(', ')}`) : '';
  const note = candidate.note ? style.dim(`  ${oneLine(candidate.note, 80)}`) : '';
  const score = pad(sayScore(candidate.score), 9, 'right');
  return stamped(
    scene,
    `${pad(id, 4)} accepted ${isRecord ? style.bold(score) : score}  ${candidate.author === null ? pad(bars, 12) : style.agent(candidate.author, pad(bars, 12))}  ${verdict}${flags}${note}`,
  );
}

/** How a score that is no new record stands to it: behind, equal, or ahead by no more than noise. */
function againstRecord(metric: RunState['terms']['metric'], score: number, best: number): string {
  const order = compareScores(metric, score, best);
  if (order === 0) return 'equals the record';
  const size = sayChange(best, score).slice(1);
  return order < 0 ? `${size} ahead, within the noise` : `${size} behind the record`;
}
