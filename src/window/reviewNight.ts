import { recordsOf } from '../analysis/shownScores.ts';
import type { Prices } from '../analysis/usage.ts';
import { costOf, usageOfRun } from '../analysis/usage.ts';
import { sayAgentsUsage, sayCost, sayUnpriced } from '../analysis/usageWords.ts';
import { sayEnd } from '../analysis/words.ts';
import { standing } from '../archive/order.ts';
import type { Given } from '../base/fact.ts';
import { sayChange, sayLength, sayScore, sayTokens } from '../base/numbers.ts';
import { oneLine } from '../base/oneLine.ts';
import { count, sayWord } from '../base/words.ts';
import { tokensOf } from '../options/usage.ts';
import { finalCandidate } from '../review/selection.ts';
import type { RunState } from '../run/model.ts';
import type { AgentWork, ReviewFrame } from './reviewMessages.ts';

/** What the review page tells of a night beside its candidates. Pure. */

/** What each agent did in this run, and what it cost. */
export function workOf(state: RunState, prices: Prices): readonly AgentWork[] {
  const { options, experiments, terms, archive } = state;
  const usage = new Map(sayAgentsUsage(state, prices).map((one) => [one.agent, one]));
  const { setters } = recordsOf(state);
  const slots = terms.policy.mode === 'single' ? [terms.policy.first] : (['A', 'B'] as const);
  return slots.map((agent) => ({
    agent,
    options: options.filter((one) => one.agent === agent).length,
    accepted: archive.filter(({ author, origin }) => author === agent && origin === undefined).length,
    rejected: experiments.filter((one) => one.agent === agent && one.state === 'rejected').length,
    records: archive.filter(({ id, author, origin }) => author === agent && !origin && setters.has(id)).length,
    tokens: usage.get(agent)?.tokens ?? '',
    cost: usage.get(agent)?.cost ?? '',
  }));
}

const fact = (name: string, words: string, warns = false): ReviewFrame['told'][number] => ({ name, words, warns });

/** How the night went: what was won over the start, how it ended, its cost, and what a person should know of. */
export function toldOf(
  state: RunState,
  given: { readonly given: Given; readonly prices: Prices },
): ReviewFrame['told'] {
  const { phase, options, pausedMs, notices, terms } = state;
  const active = state.finished?.active ?? given.given.active;
  const end =
    state.explorationEnding === null ? '' : `; exploration ended: ${sayEnd(state.explorationEnding, state.endedBy)}`;
  const failed = options.filter(({ closure }) => closure === 'failed' || closure === 'stalled');
  const { models, total } = usageOfRun(state);
  const cost = costOf(models, given.prices);
  const grown = gainOf(state);
  return [
    ...(grown === '' ? [] : [fact('Gain', grown)]),
    fact(
      'Time',
      `${sayLength(active)}${phase === 'finished' ? '' : ' so far'}, ${count(options.length, 'option')}${end}${pausedMs > 0 ? `; paused ${sayLength(pausedMs)} beside it` : ''}`,
    ),
    ...(total.responses === 0
      ? []
      : [
          fact(
            'Cost',
            [`${sayCost(cost, cost.billed)} for ${sayTokens(tokensOf(total))} tokens`, sayUnpriced(cost)]
              .filter(Boolean)
              .join('; '),
          ),
        ]),
    ...failed.map(({ number, agent, closure }) =>
      fact(`Option ${number}`, `${oneLine(terms.agents[agent].name, 40)}: ${sayWord(closure ?? 'failed')}`, true),
    ),
    ...notices
      .filter(({ level }) => level !== 'info')
      .slice(-3)
      .map(({ text }) => fact('Notice', oneLine(text, 300), true)),
  ];
}

/** How far the final candidate (else the standing one) is from the baseline, else from the first candidate. Empty in blind tasks and without either. */
function gainOf({ terms, selections, archive }: RunState): string {
  if (terms.feedback === 'blind') return '';
  const id = finalCandidate({ ...terms, selections, archive })?.candidate ?? standing(archive)?.id;
  const now = archive.find((one) => one.id === id);
  const first = archive.find(({ origin, disqualified }) => !origin && !disqualified);
  const { baseline, name } = terms.metric;
  const from = baseline ?? (first && first.id !== id ? first.score : undefined);
  if (!now || from === undefined || !Number.isFinite(now.score) || !Number.isFinite(from)) return '';
  const since = baseline === undefined ? `the first candidate, ${first?.id}` : 'the baseline';
  return `${oneLine(name, 40)} ${sayScore(from)} → ${sayScore(now.score)} (${sayChange(from, now.score)}) from ${since}`;
}
