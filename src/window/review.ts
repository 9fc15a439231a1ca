import * as vscode from 'vscode';

import { authorName, sayOption } from '../archive/origin.ts';
import { candidateIds } from './archivePlace.ts';
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
    vscode.commands.registerCommand('hma.selectFinal', (given: unknown) => selectFinal(room, candidateIds(given)[0])),
    vscode.commands.registerCommand('hma.clearSelection', () => clearSelection(room)),
  );
}

function depsOf(room: WindowRoom, onDidChange: vscode.Event<void>): ReviewDeps {
  const { model, marks } = room;
  const run = (): string => model.state?.run ?? '';
  const open = async (command: string, ...ids: readonly unknown[]): Promise<void> =>
    void (await vscode.commands.executeCommand(command, ...ids));
  return {
    state: () => model.state,
    given: () => model.given(),
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
    apply: () => open('hma.applyFinal'),
  };
}

/** Asks which candidate and why, and pins it. */
async function selectFinal(room: WindowRoom, asked: string | undefined): Promise<void> {
  const candidate = asked ?? (await pickCandidate(room));
  if (candidate === undefined) return;
  const reason = await vscode.window.showInputBox({
    title: `HMA: Select ${candidate} as final`,
    prompt:
      'Why this one? The reason is kept with the selection. It holds until you clear it, whatever the review says.',
    validateInput: (text) => (text.trim() === '' ? 'A reason is needed; it is kept for the record.' : undefined),
  });
  if (reason !== undefined) await room.ask({ kind: 'select', candidate, reason });
}

async function pickCandidate({ model }: WindowRoom): Promise<string | undefined> {
  const { state } = model;
  if (!state || state.archive.length === 0) {
    void vscode.window.showInformationMessage('HMA: there is no candidate yet.');
    return undefined;
  }
  const items = state.archive.toReversed().map((candidate) => ({
    label: candidate.id,
    description: `${state.terms.feedback === 'score' ? candidate.score : `reported ${candidate.reported ?? '—'}`} · ${authorName(candidate, state.terms.agents)}, ${sayOption(candidate)}`,
    ...(candidate.note === null ? {} : { detail: candidate.note }),
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: 'HMA: Select as Final',
    placeHolder: 'Which candidate?',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return picked?.label;
}

async function clearSelection(room: WindowRoom): Promise<void> {
  const reason = await vscode.window.showInputBox({
    title: 'HMA: Clear my selection',
    prompt: 'Why? The run’s own selection counts again.',
    validateInput: (text) => (text.trim() === '' ? 'A reason is needed; it is kept for the record.' : undefined),
  });
  if (reason !== undefined) await room.ask({ kind: 'clearSelection', reason });
}
