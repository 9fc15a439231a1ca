import * as vscode from 'vscode';

import { candidatesMeant } from './candidateChoice.ts';
import { confirmed } from './asking.ts';
import { isHiding } from './candidateStory.ts';
import {
  disqualifyPrompt,
  gradeAll,
  gradeConfirmation,
  readTimes,
  reevaluationPrompt,
  sayDone,
} from './errandsDecide.ts';
import type { Wish, WindowRoom } from './room.ts';

/** What a person can still do about candidates: evaluate again, grade, disqualify, reveal grades. Each is asked before, and goes to the controller. */
export function registerErrands(room: WindowRoom): vscode.Disposable {
  const commands: Readonly<Record<string, (given: readonly unknown[]) => Promise<unknown>>> = {
    'hma.reevaluate': (given) => reevaluate(room, given),
    'hma.grade': (given) => grade(room, given, false),
    'hma.regrade': (given) => grade(room, given, true),
    'hma.gradeAll': () => gradeEverything(room),
    'hma.disqualify': (given) => disqualify(room, given, false),
    'hma.requalify': (given) => disqualify(room, given, true),
    'hma.revealGrades': () => reveal(room),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([id, run]) =>
      vscode.commands.registerCommand(id, (...given: readonly unknown[]) => run(given)),
    ),
  );
}

async function reevaluate(room: WindowRoom, given: readonly unknown[]): Promise<void> {
  const ids = await candidatesMeant(room, given, { title: 'HMA: Re-evaluate a Candidate' });
  const { state } = room.model;
  if (!state || ids.length === 0) return;
  const text = await vscode.window.showInputBox({
    ...{ title: `HMA: Re-evaluate ${ids.join(', ')}`, prompt: reevaluationPrompt(state, ids), value: '5' },
    ignoreFocusOut: true,
    validateInput: (words) => {
      const read = readTimes(words);
      return 'why' in read ? read.why : undefined;
    },
  });
  const read = readTimes(text ?? '');
  if (!('times' in read)) return;
  await carryOut(
    room,
    ids.map((candidate) => ({ kind: 'reevaluate', candidate, times: read.times })),
  );
}

async function grade(room: WindowRoom, given: readonly unknown[], again: boolean): Promise<void> {
  const ids = await candidatesMeant(room, given, {
    title: again ? 'HMA: Grade a Candidate Again' : 'HMA: Grade a Candidate',
    fits: (candidate) => (candidate.grade?.kind === 'graded') === again,
  });
  const { state } = room.model;
  if (!state || ids.length === 0) return;
  const confirmation = gradeConfirmation(state, ids, again);
  if (await confirmed(confirmation)) await carryOut(room, [confirmation.wish]);
}

async function gradeEverything(room: WindowRoom): Promise<void> {
  const confirmation = room.model.state && gradeAll(room.model.state);
  if (confirmation && (await confirmed(confirmation))) await carryOut(room, [confirmation.wish]);
}

async function disqualify(room: WindowRoom, given: readonly unknown[], undo: boolean): Promise<void> {
  const ids = await candidatesMeant(room, given, {
    title: undo ? 'HMA: Take Back a Disqualification' : 'HMA: Disqualify a Candidate',
    fits: ({ disqualified }) => (disqualified !== undefined) === undo,
  });
  const { state } = room.model;
  if (!state || ids.length === 0) return;
  const reason = await vscode.window.showInputBox({
    title: undo ? `HMA: ${ids.join(', ')} Can Be Chosen Again` : `HMA: Disqualify ${ids.join(', ')}`,
    prompt: undo ? 'Why? The reason stays on record.' : disqualifyPrompt(state, ids),
    ignoreFocusOut: true, // the page that it was asked from may take the focus back
    validateInput: (text) => (text.trim() === '' ? 'A reason is needed; it is kept for the record.' : undefined),
  });
  if (reason === undefined) return;
  for (const candidate of ids)
    if (!(await room.ask({ kind: 'disqualify', candidate, undo, reason: reason.trim() })).done) return;
}

async function reveal(room: WindowRoom): Promise<void> {
  const sure = await confirmed({
    message: 'Reveal the hidden grades?',
    detail:
      'This is recorded and can’t be undone: every selection from now on is marked as made after grades were seen.',
    button: 'Reveal and Record',
  });
  if (sure) await room.ask({ kind: 'revealGrades' });
}

/** Asks for errands, shows that they go on until all are done, and tells what came of them. */
async function carryOut(room: WindowRoom, wishes: readonly Wish[]): Promise<void> {
  const before = room.model.state;
  if (!before) return;
  await vscode.window.withProgress({ location: { viewId: 'hma.candidates' } }, async () => {
    for (const wish of wishes) if (!(await room.ask(wish)).done) return;
    if (!(await allDone(room, before.run))) return;
    const { state } = room.model;
    if (state?.run !== before.run) return;
    const words = wishes.map((wish) => sayDone(state, before, wish)).filter((one) => one !== '');
    if (words.length > 0)
      void tell(
        room,
        words.join(' '),
        wishes.some(({ kind }) => kind === 'grade'),
      );
  });
}

async function tell({ model }: WindowRoom, words: string, graded: boolean): Promise<void> {
  const show = 'Reveal Grades…';
  const offers = graded && model.state && isHiding(model.state) ? [show] : [];
  if ((await vscode.window.showInformationMessage(`HMA: ${words}`, ...offers)) === show)
    await vscode.commands.executeCommand('hma.revealGrades');
}

/** Until nothing is left to be done about the run's candidates; false when another run is shown before. */
function allDone({ model }: WindowRoom, run: string): Promise<boolean> {
  return new Promise((resolve) => {
    const look = (): boolean => {
      const { state } = model;
      if (state?.run === run && state.errands.length > 0) return false;
      resolve(state?.run === run);
      return true;
    };
    if (look()) return;
    const listening = model.onDidChange(() => {
      if (look()) listening.dispose();
    });
  });
}
