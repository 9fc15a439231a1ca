import * as vscode from 'vscode';

import { candidateIds } from './archivePlace.ts';
import { candidatesMeant } from './candidateChoice.ts';
import { PriceCache } from './priceCache.ts';
import type { CandidateAct } from './reviewMessages.ts';
import { ReviewPanels, type ReviewDeps } from './reviewPanel.ts';
import type { WindowRoom } from './room.ts';
import { presenceWords } from './runWords.ts';
import { settings } from './settings.ts';

/** The final review: its page, and selecting the final candidate from anywhere. */
export function registerReview(room: WindowRoom): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const panels = new ReviewPanels(room.context, depsOf(room, changed.event));
  const tell = (): void => changed.fire();
  const sinceWall = Date.now();
  return vscode.Disposable.from(
    panels,
    changed,
    room.model.onDidChange(tell),
    room.model.onDidChange(({ events }) => {
      // not one that was before this window
      const opened = events.some(({ type, wall }) => type === 'review.opened' && wall >= sinceWall);
      if (opened && settings().openReview) panels.offer();
    }),
    room.marks.onDidChange(tell),
    vscode.commands.registerCommand('hma.openReview', (given: unknown) => panels.show(candidateIds(given)[0])),
    vscode.commands.registerCommand('hma.selectFinal', (given: unknown) => selectFinal(room, given)),
    vscode.commands.registerCommand('hma.clearSelection', () => clearSelection(room)),
  );
}

function depsOf(room: WindowRoom, onDidChange: vscode.Event<void>): ReviewDeps {
  const { model, marks } = room;
  const prices = new PriceCache();
  const run = (): string => model.state?.run ?? '';
  const open = async (command: string, ...ids: readonly unknown[]): Promise<void> =>
    void (await vscode.commands.executeCommand(command, ...ids));
  return {
    state: () => model.state,
    given: () => model.given(),
    prices: () => prices.of(model.place?.home),
    presence() {
      const trusted = vscode.workspace.isTrusted;
      const cannot = trusted
        ? 'The run has no controller at the moment.'
        : 'This folder is not trusted: nothing is changed from here.';
      const canIntend = trusted && (model.presence === 'live' || model.presence === 'over');
      return { canIntend, cannot: canIntend ? '' : cannot, banner: presenceWords(model.state, model) };
    },
    onDidChange,
    intend: (intent) => room.ask(intent),
    marks: {
      starred: (id) => marks.isStarred(run(), id),
      hidden: (id) => marks.isHidden(run(), id),
      setStarred: (id, on) => void marks.set(run(), 'starred', { candidate: id, on }),
      setHidden: (id, on) => void marks.set(run(), 'hidden', { candidate: id, on }),
    },
    openDiff: (before, after) => open('hma.compare', before, after),
    openFiles: (candidate) => open('hma.showFiles', candidate),
    act: (act, candidate) => (isAct(act) ? open(acts[act], candidate) : Promise.resolve()),
    gradeAll: () => open('hma.gradeAll'),
    apply: () => open('hma.applyFinal'),
  };
}

/** The command of each thing that the page can ask about a candidate. */
const acts: Readonly<Record<CandidateAct, string>> = {
  reevaluate: 'hma.reevaluate',
  grade: 'hma.grade',
  regrade: 'hma.regrade',
  disqualify: 'hma.disqualify',
  requalify: 'hma.requalify',
};

/** A page is a boundary, too. */
const isAct = (act: string): act is CandidateAct => Object.hasOwn(acts, act);

/** Asks which candidate and why, and pins it. */
async function selectFinal(room: WindowRoom, given: unknown): Promise<void> {
  const [candidate] = await candidatesMeant(room, [given], {
    title: 'HMA: Select as Final',
    fits: ({ disqualified }) => disqualified === undefined,
  });
  if (candidate === undefined) return;
  const reason = await vscode.window.showInputBox({
    title: `HMA: Select ${candidate} as final`,
    prompt:
      'Why this one? The reason is kept with the selection. It holds until you clear it, whatever the review says.',
    validateInput: (text) => (text.trim() === '' ? 'A reason is needed; it is kept for the record.' : undefined),
  });
  if (reason !== undefined) await room.ask({ kind: 'select', candidate, reason });
}

async function clearSelection(room: WindowRoom): Promise<void> {
  const reason = await vscode.window.showInputBox({
    title: 'HMA: Clear my selection',
    prompt: 'Why? The run’s own selection counts again.',
    validateInput: (text) => (text.trim() === '' ? 'A reason is needed; it is kept for the record.' : undefined),
  });
  if (reason !== undefined) await room.ask({ kind: 'clearSelection', reason });
}
