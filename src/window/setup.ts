import { existsSync } from 'node:fs';
import { join } from 'node:path';

import * as vscode from 'vscode';

import { createFileAtomic } from '../base/files.ts';
import { openContract } from './contractPlace.ts';
import {
  agentsKnown,
  candidatesIn,
  evaluatorsIn,
  metricsIn,
  type AgentKnown,
  type EvaluatorFound,
  type FolderLook,
  type MetricFound,
} from '../client/setupDetect.ts';
import { lookAtFolder } from '../client/setupLook.ts';
import { offerSignIn } from './signIn.ts';
import { askStep, type Step, type StepEnd } from './setupSteps.ts';
import { contractText, type SetupChoices } from '../client/setupWrite.ts';

/** `hma.setUp`: a guided set-up in five steps that writes a commented hma.yaml and opens it. It never overwrites one. */
export function registerSetup(folder: string): vscode.Disposable {
  return vscode.commands.registerCommand('hma.setUp', () => setUp(folder));
}

async function setUp(folder: string): Promise<void> {
  const path = join(folder, 'hma.yaml');
  if (existsSync(path)) {
    await openContract(folder);
    return void vscode.window.showInformationMessage('HMA: this folder has an hma.yaml already; here it is.');
  }
  const look = await lookAtFolder(folder, process.env['PATH']);
  const choices = await askAll(look);
  if (!choices) return;
  // never over one that was made meanwhile
  if (!createFileAtomic(path, contractText(choices), 0o644))
    return void vscode.window.showWarningMessage('HMA: an hma.yaml was made meanwhile; it was left as it is.');
  await openContract(folder);
  void offerSignIn(folder, [choices.A, choices.B]);
}

/** What was chosen so far; each step fills in its part. */
interface Draft {
  evaluator: EvaluatorFound | null;
  metric: MetricFound;
  candidate: readonly string[];
  agents: readonly (AgentKnown | null)[];
  budget: { readonly total: string; readonly review: string };
}

const totalSteps = 5;
const title = 'HMA: Set Up a Task';

type Asker = (look: FolderLook, draft: Draft) => Promise<StepEnd<unknown>['how']>;

async function askAll(look: FolderLook): Promise<SetupChoices | undefined> {
  const draft: Draft = {
    evaluator: null,
    metric: { name: 'score', direction: 'maximize' },
    candidate: [],
    agents: [null, null],
    budget: { total: '6h', review: '15m' },
  };
  const steps: readonly Asker[] = [askEvaluator, askMetric, askCandidate, askAgents, askBudget];
  for (let at = 0; at < steps.length;) {
    const how = await (steps[at] as Asker)(look, draft);
    if (how === 'left') return undefined;
    at += how === 'back' ? -1 : 1;
  }
  const [A = null, B = null] = draft.agents;
  const objectiveFile = look.files.find((path) => /^(objective|task)\.md$/i.test(path)) ?? null;
  return {
    name: look.name,
    evaluate: draft.evaluator?.command ?? null,
    metric: draft.metric,
    candidate: draft.candidate,
    A,
    B: B ?? A,
    ...draft.budget,
    objectiveFile,
  };
}

/** Asks a step and hands what was chosen on. */
async function ask<Item extends vscode.QuickPickItem>(
  step: Omit<Step<Item>, 'title' | 'totalSteps'>,
  take: (items: readonly Item[]) => void,
): Promise<StepEnd<Item>['how']> {
  const end = await askStep({ title, totalSteps, ...step });
  if (end.how === 'chosen') take(end.items);
  return end.how;
}

const askEvaluator: Asker = (look, draft) => {
  const found = evaluatorsIn(look).map((evaluator) => ({
    label: evaluator.command.join(' '),
    description: evaluator.file,
    evaluator: evaluator as EvaluatorFound | null,
  }));
  const later = { label: 'I Will Write It', description: 'python3 evaluate.py is put in its place', evaluator: null };
  return ask(
    { step: 1, placeholder: 'Which command evaluates a candidate?', items: [...found, later] },
    ([one]) => (draft.evaluator = one?.evaluator ?? null),
  );
};

const askMetric: Asker = (look, draft) => {
  const spoken = metricsIn(draft.evaluator === null ? '' : (look.texts[draft.evaluator.file] ?? ''));
  const others: readonly MetricFound[] = [
    { name: 'score', direction: 'maximize' },
    { name: 'loss', direction: 'minimize' },
    { name: 'accuracy', direction: 'maximize' },
    { name: 'RMSE', direction: 'minimize' },
  ];
  const all = [...spoken, ...others.filter(({ name }) => !spoken.some((one) => one.name === name))];
  const items = all.map((metric, index) => ({
    label: metric.name,
    description: `${metric.direction === 'maximize' ? 'higher' : 'lower'} is better${index < spoken.length ? ' · the evaluator speaks of it' : ''}`,
    metric,
  }));
  return ask(
    { step: 2, placeholder: 'What does its score measure, and which way is better?', items },
    ([one]) => (draft.metric = one?.metric ?? draft.metric),
  );
};

const askCandidate: Asker = (look, draft) => {
  const found = candidatesIn(look, draft.evaluator?.file ?? null)
    .slice(0, 40)
    .map(({ path, likely }) => ({ label: path, description: path.endsWith('/**') ? 'a folder' : '', likely }));
  const items =
    found.length > 0
      ? found
      : [{ label: 'solution/**', description: 'a folder that the agents will make', likely: true }];
  const selected = items.filter(({ likely }) => likely);
  return ask(
    {
      step: 3,
      placeholder: 'Which files make up a candidate?',
      items,
      many: { selected, least: 1, most: items.length },
    },
    (chosen) => (draft.candidate = chosen.map(({ label }) => label)),
  );
};

const askAgents: Asker = (look, draft) => {
  const items = agentsKnown
    .map((agent) => ({
      label: agent.title,
      description: look.programs.includes(agent.program) ? 'installed here' : 'not found on PATH',
      here: look.programs.includes(agent.program),
      agent,
    }))
    .toSorted((a, b) => Number(b.here) - Number(a.here));
  const selected = items.filter(({ here }) => here).slice(0, 2);
  return ask(
    {
      step: 4,
      placeholder: 'Which two agents take turns? None: your own programs',
      items,
      many: { selected, least: 0, most: 2 },
    },
    (chosen) => (draft.agents = chosen.map(({ agent }) => agent)),
  );
};

const askBudget: Asker = (_look, draft) => {
  const rows = [
    ['6h', '15m', 'the paper’s'],
    ['1h', '10m', 'a first try'],
    ['20m', '3m', 'to see it work'],
    ['12h', '30m', 'a night'],
    ['24h', '45m', 'a day'],
  ] as const;
  const items = rows.map(([total, review, why]) => ({
    label: total,
    description: `${why} · the last ${review} for the final review`,
    budget: { total, review },
  }));
  return ask(
    { step: 5, placeholder: 'How long may the run work?', items },
    ([one]) => (draft.budget = one?.budget ?? draft.budget),
  );
};
