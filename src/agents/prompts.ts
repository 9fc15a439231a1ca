import { isAbsolute, join, relative } from 'node:path';
import picomatch from 'picomatch';
import { oneLine } from '../base/oneLine.ts';
import type { Result } from '../base/result.ts';
import type { EndedProcess } from '../machines/port.ts';
import type { Contract } from '../task/model.ts';
import { explorationTemplate, reviewTemplate } from './promptTemplates.ts';
import { checkTemplate, fillTemplate, type TemplateRefusal } from './template.ts';

/** The standing candidate, or one on the ballot, as the agent that reads about it sees it. */
export interface CandidateView {
  readonly id: string;
  readonly author: 'you' | 'peer';
  readonly option: number;
  /** Made in an earlier run on the same folder. */
  readonly earlier?: boolean;
  /** The evaluator's score; used only where the task's feedback is `score`. */
  readonly score: number;
  /** What its author's own validation gave. */
  readonly reported?: number;
  readonly note?: string;
}

/** What an option's prompt is made from. Of the contract only what an agent may know is read. */
export interface ExplorationFacts {
  readonly contract: Contract;
  readonly workspace: string;
  /** Active time to the end of exploration, ms. */
  readonly leftMs: number;
  readonly standing: CandidateView | null;
  /** How many candidates the archive holds. */
  readonly archived: number;
  /** Processes of the session before that were ended at the handoff. */
  readonly ended: readonly EndedProcess[];
}

/** What the reviewer's prompt is made from. */
export interface ReviewFacts {
  readonly contract: Contract;
  readonly workspace: string;
  /** Folder with the candidates' small files, `<folder>/<id>/…`. */
  readonly candidatesFolder: string;
  /** The ballot file a nomination can be written to. */
  readonly ballotFile: string;
  readonly leftMs: number;
  /** All candidates, oldest first; the last one is the standing candidate. */
  readonly ballot: readonly CandidateView[];
}

/** The names a user's own template may use in double braces. */
export const placeholders = {
  exploration: [
    'objective',
    'workspace',
    'place',
    'candidate',
    'protected',
    'commands',
    'metric',
    'feedback',
    'records',
    'minutes',
    'time',
    'cap',
    'standing',
    'ended',
  ],
  review: [
    'objective',
    'workspace',
    'place',
    'metric',
    'candidates',
    'ballotFile',
    'ballot',
    'feedback',
    'nominate',
    'minutes',
    'time',
    'standing',
  ],
} as const;

/** Whether a user's template names only what exists: asked when the contract is read, before anything starts. */
export const checkPromptTemplate = (kind: 'exploration' | 'review', template: string): Result<null, TemplateRefusal> =>
  checkTemplate(template, placeholders[kind]);

const bullets = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');
const minutesOf = (ms: number): number => Math.max(0, Math.floor(ms / 60_000));

function duration(ms: number): string {
  const minutes = minutesOf(ms);
  if (minutes < 1) return 'less than a minute';
  return minutes === 1 ? 'about 1 minute' : `about ${minutes} minutes`;
}

const metricOf = ({ metric }: Contract): string =>
  `The measure is ${oneLine(metric.name, 80)}; ${metric.direction === 'maximize' ? 'higher' : 'lower'} is better.`;

/** Protected paths as an agent is told them: without those that only the hidden grader knows. */
function toldProtected(contract: Contract, workspace: string): string[] {
  const hidden = [...contract.evaluate.hidden, ...(contract.grade?.hidden ?? [])];
  const grader = new Set((contract.grade?.command ?? []).map((word) => join(contract.grade?.cwd ?? '.', word)));
  return contract.protected.filter((path) => {
    const base = join(workspace, picomatch.scan(path).base);
    const below = hidden.some((secret) => {
      const way = relative(secret, base);
      return way === '' || (!way.startsWith('..') && !isAbsolute(way));
    });
    const usedByEvaluator = contract.evaluate.command.some((word) => join(contract.evaluate.cwd, word) === join(path));
    return !below && (!grader.has(join(path)) || usedByEvaluator);
  });
}

function describe(candidate: CandidateView, feedback: Contract['feedback']): string {
  const facts = [
    candidate.author === 'you' ? 'by you' : 'by your peer',
    `session ${candidate.option}${candidate.earlier ? ' of an earlier run' : ''}`,
    ...(feedback === 'score' ? [`score ${candidate.score}`] : []),
    ...(candidate.reported === undefined ? [] : [`its author's own validation gave ${candidate.reported}`]),
  ];
  const note =
    candidate.note === undefined || candidate.note.trim() === ''
      ? ''
      : `; note: ${JSON.stringify(oneLine(candidate.note, 300))}`;
  return `${candidate.id} (${facts.join(', ')}${note})`;
}

function standingOf({ contract, standing, archived }: ExplorationFacts): string {
  if (!standing) return 'No candidate has been accepted yet.';
  const count = archived === 1 ? '1 accepted candidate' : `${archived} accepted candidates`;
  return `There ${archived === 1 ? 'is' : 'are'} ${count} so far, listed in .hma/archive.md. The latest one stands: ${describe(standing, contract.feedback)}.`;
}

function endedOf(ended: readonly EndedProcess[]): string {
  if (ended.length === 0) return '';
  const shown = ended
    .slice(0, 10)
    .map((each) => `\`${oneLine(each.command, 120).replaceAll('`', "'")}\` (${duration(each.ageMs)} old)`);
  const more = ended.length > shown.length ? `\n- and ${ended.length - shown.length} more` : '';
  return `These processes were still running when the session before yours closed, and were ended:\n${bullets(shown)}${more}`;
}

function commandsOf(contract: Contract): string {
  return bullets([
    '`hma submit --note "what you changed"` submits the candidate as its files are now; `--score NUMBER` adds what your own validation gave. It prints an id, waits a few seconds and prints the receipt, or says that the evaluation goes on.',
    '`hma result ID` prints the receipt of a submission.',
    ...(contract.validate ? ['`hma validate` checks the form of the candidate; it submits nothing.'] : []),
    '`hma status` tells the time left and until when a submission is safe.',
    '`hma archive` lists the accepted candidates; `hma archive get ID PATH` prints a file of one.',
  ]);
}

/** Asked of agents where the contract wants it: what one of them knows outlives its session in the folder. */
const recordKeeping =
  'Keep a record as you go. After each round of work commit it to git in that folder with a message that says what changed and what it gave. Keep JOURNAL.md in its root: one entry a round, newest last, with the idea, what you ran, the numbers, and what you would try next. Read it before you begin.';

function explorationValues(facts: ExplorationFacts): Record<(typeof placeholders.exploration)[number], string> {
  const { contract, workspace } = facts;
  const { cap, tellCap, mode } = contract.policy;
  const told = toldProtected(contract, workspace);
  const peer =
    ' Another engineer, your peer, works in the same folder between your sessions, never at the same time: expect changes that are not yours, and leave the folder so that they can go on.';
  const end =
    tellCap && cap !== null ? `Your session ends after ${cap} accepted submission${cap === 1 ? '' : 's'}.` : '';
  return {
    objective: contract.objective.trim(),
    workspace,
    place: `You work in the folder ${workspace}. What is in it stays; what you know is not carried over to a later session.${mode === 'alternate' ? peer : ''}`,
    candidate: bullets(contract.candidate),
    protected: told.length === 0 ? '' : `Don't change these paths:\n\n${bullets(told)}`,
    commands: commandsOf(contract),
    metric: metricOf(contract),
    feedback:
      contract.feedback === 'score'
        ? `${metricOf(contract)} A receipt says whether the candidate was accepted, and its score.`
        : `${metricOf(contract)} A receipt says only whether the candidate was accepted; scores are not shown.`,
    records: contract.prompts.recordKeeping ? recordKeeping : '',
    minutes: String(minutesOf(facts.leftMs)),
    time: `Time left: ${duration(facts.leftMs)}.`,
    cap: end,
    standing: standingOf(facts),
    ended: endedOf(facts.ended),
  };
}

function reviewValues(facts: ReviewFacts): Record<(typeof placeholders.review)[number], string> {
  const { contract, ballot } = facts;
  const standing = ballot.at(-1);
  return {
    objective: contract.objective.trim(),
    workspace: facts.workspace,
    place: `You are in a scratch folder. Each candidate's files are in ${facts.candidatesFolder}/ID; \`hma archive get ID PATH\` prints one that is missing there because it is large. The folder ${facts.workspace} is as it was left, for reading.`,
    metric: metricOf(contract),
    candidates: facts.candidatesFolder,
    ballotFile: facts.ballotFile,
    ballot: ballot.map((each, index) => `${index + 1}. ${describe(each, contract.feedback)}`).join('\n'),
    feedback:
      contract.feedback === 'score'
        ? "The scores are the evaluator's own."
        : 'Scores are not shown; judge by the files, the notes and what the authors say of their own validation.',
    nominate: `Choose with \`hma nominate ID --reason "why"\`, or write {"candidate": "ID", "reason": "why"} into ${facts.ballotFile}. You may choose again; the last valid choice counts.`,
    minutes: String(minutesOf(facts.leftMs)),
    time: `Time left: ${duration(facts.leftMs)}; a choice that comes later does not count.`,
    standing: standing ? `Without a valid choice ${fallbackOf(contract)} becomes the final result.` : '',
  };
}

const fallbackOf = (contract: Contract): string =>
  contract.fallback === 'record' && contract.feedback === 'score'
    ? 'the candidate with the best score'
    : 'the latest candidate';

/** The prompt of an option, from the contract's own template where it has one. The cap is in it only with `tellCap`. */
export function explorationPrompt(facts: ExplorationFacts): Result<string, TemplateRefusal> {
  return fillTemplate(facts.contract.prompts.exploration ?? explorationTemplate, explorationValues(facts));
}

/** The prompt of the final review. Scores are in it only with `feedback: score`. */
export function reviewPrompt(facts: ReviewFacts): Result<string, TemplateRefusal> {
  return fillTemplate(facts.contract.prompts.review ?? reviewTemplate, reviewValues(facts));
}
