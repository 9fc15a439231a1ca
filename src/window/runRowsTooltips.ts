import { timeShares } from '../analysis/timeShares.ts';
import { costOf, sumOf, usageOfRun, type Prices } from '../analysis/usage.ts';
import { sayAgentsUsage, sayCaps, sayCosts, sayUnpriced, sayUsage } from '../analysis/usageWords.ts';
import { sayEnd } from '../analysis/words.ts';
import { afterLines } from './candidateRowsTooltips.ts';
import { sayBytes, sayClock, sayLength, sayScore, sayShare } from '../base/numbers.ts';
import { oneLine } from '../base/oneLine.ts';
import { count, sayWord } from '../base/words.ts';
import type { Experiment } from '../experiments/model.ts';
import type { Attempt, Option } from '../options/model.ts';
import type { ModelUsage } from '../options/usage.ts';
import type { RunState } from '../run/model.ts';
import type { RunScene } from './runRows.ts';
import { sayClosure } from './runRows.ts';
import { sayOutcome } from './runRowsReview.ts';
import { agentName, sayPhase, sayShown } from './runWords.ts';
import { mdText, type TreeRow } from './treeRow.ts';

/** One line of a tooltip: a name and what it says. The name is ours, the words may be anybody's. */
const line = (name: string, words: string): string => `**${name}** ${mdText(words)}`;

/** The whole story of a row of the run tree, in Markdown; empty where the row says all there is. */
export function runTooltip(scene: RunScene, { id }: TreeRow): string {
  const { state } = scene;
  if (id === state.run) return paragraphs(runLines(scene));
  const [, what = ''] = id.split(`${state.run}/`);
  const option = /^option-(\d+)$/.exec(what);
  if (option)
    return paragraphs(
      optionLines(
        scene,
        state.options.find(({ number }) => number === Number(option[1])),
      ),
    );
  if (what === 'review') return paragraphs(reviewLines(scene));
  const experiment = state.experiments.find((one) => one.id === what);
  return experiment ? paragraphs(experimentLines(state, experiment)) : '';
}

const paragraphs = (lines: readonly string[]): string => lines.join('  \n');

function runLines({ state, given, prices }: RunScene): string[] {
  const { terms, budgets, isolation, controller } = state;
  const shares = timeShares(state, given);
  const best = terms.metric.direction === 'maximize' ? 'higher is better' : 'lower is better';
  const limits = `${sayLength(budgets.totalMs)} in all, ${sayLength(budgets.reviewMs)} of it for the final review`;
  return [
    `**${mdText(oneLine(terms.name, 80))}** ${mdText(sayPhase(state))}`,
    line('Run', state.run),
    line(
      'Metric',
      `${oneLine(terms.metric.name, 60)}, ${best}${terms.feedback === 'blind' ? '; blind: agents see no scores' : ''}`,
    ),
    line(
      'Policy',
      terms.policy.mode === 'single'
        ? 'one agent'
        : terms.policy.cap === null
          ? 'alternate, no cap'
          : `alternate, cap ${terms.policy.cap}`,
    ),
    line(
      'Budget',
      [
        limits,
        ...(budgets.experiments === null ? [] : [count(budgets.experiments, 'experiment')]),
        ...sayCaps(budgets).map((cap) => `${cap} for exploration`),
      ].join(', '),
    ),
    line(
      'Spent',
      `${sayLength(shares.budget - shares.ahead)} · ${agentName(state, 'A')} ${sayShare(shares.sessions.A, shares.budget)} · ${agentName(state, 'B')} ${sayShare(shares.sessions.B, shares.budget)} · between sessions ${sayLength(shares.between)}${shares.paused > 0 ? ` · paused ${sayLength(shares.paused)} beside it` : ''}`,
    ),
    ...usageLines(usageOfRun(state).models, prices),
    ...sayAgentsUsage(state, prices).map(({ name, tokens, cost }) => line(name, `${cost}, ${tokens} tokens`)),
    line('Isolation', isolation.tier),
    line('Controller', controller.starts > 1 ? `started ${controller.starts} times` : 'never restarted'),
    ...(state.explorationEnding ? [line('Exploration ended', sayEnd(state.explorationEnding, state.endedBy))] : []),
    ...state.notices
      .filter(({ level }) => level !== 'info')
      .slice(-3)
      .map(({ text }) => line('Notice', oneLine(text, 300))),
  ];
}

function optionLines({ state, prices }: RunScene, option: Option | undefined): string[] {
  if (!option) return [];
  const rejected = state.experiments.filter((one) => one.option === option.number && one.state === 'rejected').length;
  return [
    `**Option ${option.number}** ${mdText(agentName(state, option.agent))}, ${mdText(state.terms.agents[option.agent].adapter)}`,
    line('Opened', `at ${sayClock(option.openedAt)} of active runtime`),
    ...(option.closedAt === null ? [] : [line('Closed', `at ${sayClock(option.closedAt)}`)]),
    ...(option.closure === null
      ? []
      : [
          line(
            'Closure',
            `${sayClosure(option.closure)}${option.endedItself ? '; the session had ended by itself' : ''}`,
          ),
        ]),
    line('Experiments', `${option.accepted.length} accepted, ${rejected} rejected`),
    ...(option.closedAt !== null && option.accepted.length === 0
      ? [line('Barren', 'no experiment of it was accepted')]
      : []),
    ...usageLines(option.usage, prices),
    ...option.attempts.map((attempt) => line(`Attempt ${attempt.number}`, sayAttempt(attempt))),
    ...(option.survivors.length > 0
      ? [
          line(
            'Can’t be ended',
            option.survivors.map(({ pid, command }) => `${pid} ${oneLine(command, 60)}`).join(', '),
          ),
        ]
      : []),
  ];
}

/** Tokens, cost and models; nothing where no harness tells. */
function usageLines(usages: readonly ModelUsage[], prices: Prices): string[] {
  if (usages.length === 0) return [];
  const cost = costOf(usages, prices);
  const models = usages.map(({ model }) => (model === null ? 'not told' : oneLine(model, 60)));
  return [
    line('Model', models.join(', ')),
    line('Tokens', sayUsage(sumOf(usages))),
    line('Cost', [sayCosts(cost), sayUnpriced(cost)].filter(Boolean).join('; ')),
  ];
}

function sayAttempt(attempt: Attempt): string {
  if (attempt.state === 'starting') return 'starting';
  if (attempt.state === 'running')
    return `running since ${sayClock(attempt.startedAt)}${attempt.spokeAt === null ? '; no output yet' : ''}`;
  const length =
    attempt.startedAt === null ? 'was never started' : `ran ${sayLength(attempt.endedAt - attempt.startedAt)}`;
  const how = attempt.failure
    ? `failed, ${sayWord(attempt.failure.reason)}: ${oneLine(attempt.failure.detail, 300)}`
    : attempt.endedItself
      ? 'ended by itself'
      : 'was ended';
  return `${length}; ${how}`;
}

function experimentLines(state: RunState, experiment: Experiment): string[] {
  const { id, option, agent, captured, note, evaluations } = experiment;
  const verdict =
    experiment.state === 'accepted'
      ? `accepted, ${sayShown(state, experiment)}`
      : experiment.state === 'rejected'
        ? `rejected, ${sayWord(experiment.code)}: ${oneLine(experiment.reason, 600)}`
        : experiment.state === 'evaluating'
          ? 'being evaluated'
          : 'waits for its evaluation';
  const runs = evaluations
    .filter(({ endedAt }) => endedAt !== null)
    .map(({ startedAt, endedAt }) => sayLength((endedAt ?? startedAt) - startedAt));
  return [
    `**Experiment ${mdText(id)}** ${mdText(verdict)}`,
    line('By', `${agentName(state, agent)} in option ${option}`),
    line(
      'Submitted',
      `${new Date(experiment.submittedWall).toLocaleString()}, at ${sayClock(experiment.submittedAt)} of active runtime`,
    ),
    ...(captured ? [line('Files', `${captured.files}, ${sayBytes(captured.bytes)}`)] : []),
    ...(runs.length > 0 ? [line('Evaluation', runs.join(', '))] : []),
    ...(experiment.reported === null ? [] : [line('Reported', sayScore(experiment.reported))]),
    ...(experiment.state === 'accepted' && experiment.flags.length > 0
      ? [line('Flags', experiment.flags.map(sayWord).join(', '))]
      : []),
    ...(note === null ? [] : [line('Note', oneLine(note, 1000))]),
    ...afterLines(state, id),
  ];
}

function reviewLines({ state, prices }: RunScene): string[] {
  const { review } = state;
  if (!review) return [];
  const reviewer = agentName(state, review.reviewer);
  const opened = review.attempts.length > 0 || review.outcome !== 'skipped';
  return [
    `**Final Review** ${review.outcome ?? 'going on'}`,
    ...(opened ? [line('Reviewer', `${reviewer}, who did not write the standing candidate`)] : []),
    ...(review.outcome === null ? [] : [line('Outcome', sayOutcome(state, review))]),
    ...(review.nomination
      ? [line('Nomination', `${review.nomination.candidate}: ${oneLine(review.nomination.reason, 1500)}`)]
      : []),
    ...(review.invalidBallots > 0 ? [line('Invalid ballots', String(review.invalidBallots))] : []),
    ...usageLines(review.usage, prices),
    ...review.attempts.map((attempt) => line(`Attempt ${attempt.number}`, sayAttempt(attempt))),
  ];
}
