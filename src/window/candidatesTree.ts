import * as vscode from 'vscode';

import {
  candidateRows,
  candidateOrders,
  filters,
  noFilter,
  type CandidateFilter,
  type CandidateOrder,
  type CandidateView,
} from './candidateRows.ts';
import { candidateTooltip } from './candidateRowsTooltips.ts';
import { recordsOf } from '../analysis/shownScores.ts';
import type { RunState } from '../run/model.ts';
import type { AgentSlot } from '../task/model.ts';
import type { WindowRoom } from './room.ts';
import { type RowNode, RowTree } from './rowTree.ts';
import { agentName, candidateMarks } from './runWords.ts';
import type { TreeRow } from './treeRow.ts';

/** Rows at first, and each time more are asked for: a redraw costs no more than these, however long the archive. */
const page = 200;

const memoryKey = 'candidates.view';

/** The view "Candidates": the archive, sorted and filtered as a person likes. */
export function registerCandidatesTree(room: WindowRoom): vscode.Disposable {
  const tree = new CandidatesTree(room);
  const marking = (mark: 'starred' | 'hidden', on: boolean) => async (node?: RowNode, nodes?: readonly RowNode[]) => {
    const run = room.model.state?.run;
    if (run === undefined) return;
    for (const candidate of tree.meant(node, nodes)) await room.marks.set(run, mark, { candidate, on });
  };
  const commands: Readonly<Record<string, (node?: RowNode, nodes?: readonly RowNode[]) => unknown>> = {
    'hma.star': marking('starred', true),
    'hma.unstar': marking('starred', false),
    'hma.hide': marking('hidden', true),
    'hma.unhide': marking('hidden', false),
    'hma.sortCandidates': () => tree.askOrder(),
    'hma.filterCandidates': () => tree.askFilter(),
    'hma.showMoreCandidates': () => tree.showMore(),
    'hma.copyId': (node, nodes) => vscode.env.clipboard.writeText(tree.meant(node, nodes).join(' ')),
  };
  const registered = Object.entries(commands).map(([id, run]) => vscode.commands.registerCommand(id, run));
  return vscode.Disposable.from(tree, ...registered);
}

class CandidatesTree implements vscode.Disposable {
  readonly #room: WindowRoom;
  readonly #tree: RowTree;
  readonly #view: vscode.TreeView<RowNode>;
  readonly #parts: vscode.Disposable;
  #order: CandidateOrder;
  #filter: CandidateFilter;
  #most = page;
  #drawn: RunState | null = null;

  constructor(room: WindowRoom) {
    this.#room = room;
    const remembered = room.context.workspaceState.get<Partial<CandidateView>>(memoryKey, {});
    this.#order = candidateOrders.find((order) => order === remembered.order) ?? 'time';
    this.#filter = { ...noFilter, ...remembered.filter };
    this.#tree = new RowTree((row) => this.#tooltip(row));
    this.#view = vscode.window.createTreeView('hma.candidates', { treeDataProvider: this.#tree, canSelectMany: true });
    this.#parts = vscode.Disposable.from(
      this.#tree,
      this.#view,
      room.marks.onDidChange(() => this.#draw()),
      room.model.onDidChange(() => this.#drawIfNew()),
    );
    this.#draw();
  }

  /** Candidates that a menu command means: all that are selected when it was asked on one of them, else that one. */
  meant(node: RowNode | undefined, nodes: readonly RowNode[] | undefined): string[] {
    const asked = nodes && nodes.length > 0 ? nodes : node ? [node] : this.#view.selection;
    return asked.flatMap(({ candidate }) => candidate ?? []);
  }

  /** Candidates come, are marked and graded by a few kinds of events; all else needs no look at thousands of them. */
  #drawIfNew(): void {
    const { state } = this.#room.model;
    const was = this.#drawn;
    const same =
      was !== null &&
      state?.run === was.run &&
      state.archive === was.archive &&
      state.selections === was.selections &&
      state.review?.nomination === was.review?.nomination &&
      state.gradesRevealed === was.gradesRevealed;
    if (!same) this.#draw();
  }

  #draw(): void {
    const { state } = this.#room.model;
    if (state?.run !== this.#drawn?.run) this.#most = page;
    this.#drawn = state;
    const found =
      state && candidateRows(state, this.#room.marks, { order: this.#order, filter: this.#filter, most: this.#most });
    this.#tree.update(found?.rows ?? []);
    if (!found || found.all === 0) return this.#say(undefined, undefined);
    const filtered = filters(this.#filter) || found.passing < found.all;
    const how = this.#order === 'time' ? 'latest first' : this.#order === 'score' ? 'best first' : 'by author';
    const nothing =
      found.passing === 0 ? 'No candidate passes the filter. Choose Filter Candidates to change it.' : undefined;
    this.#say(`${filtered ? `${found.passing} of ${found.all}` : found.all} · ${how}`, nothing);
  }

  #say(description: string | undefined, message: string | undefined): void {
    this.#view.description = description as string;
    this.#view.message = message as string;
  }

  #tooltip(row: TreeRow): string {
    const { state } = this.#room.model;
    const candidate = state?.archive.find(({ id }) => id === row.candidate);
    if (!state || !candidate) return '';
    return candidateTooltip(state, candidate, candidateMarks(state, recordsOf(state)).get(candidate.id) ?? []);
  }

  showMore(): void {
    this.#most += page;
    this.#draw();
  }

  async askOrder(): Promise<void> {
    const blind = this.#room.model.state?.terms.feedback === 'blind';
    const items: (vscode.QuickPickItem & { readonly order: CandidateOrder })[] = [
      { order: 'time', label: '$(history) Time', description: 'latest first' },
      {
        order: 'score',
        label: `$(graph) ${blind ? 'Reported Score' : 'Score'}`,
        description: blind ? 'best first, by what the agents reported' : 'best first',
      },
      { order: 'author', label: '$(person) Author', description: 'then latest first' },
    ];
    const chosen = await vscode.window.showQuickPick(items, {
      title: 'Sort Candidates',
      placeHolder: `Now: ${this.#order}`,
    });
    if (!chosen) return;
    this.#order = chosen.order;
    await this.#remember();
  }

  async askFilter(): Promise<void> {
    const { state } = this.#room.model;
    if (!state) return;
    const items = filterItems(state, this.#filter);
    const chosen = await vscode.window.showQuickPick(items, {
      title: 'Filter Candidates',
      placeHolder: 'Show only … (nothing chosen shows all)',
      canPickMany: true,
      matchOnDescription: true,
    });
    if (!chosen) return;
    this.#filter = filterOf(chosen);
    await this.#remember();
  }

  async #remember(): Promise<void> {
    this.#draw();
    await this.#room.context.workspaceState.update(memoryKey, { order: this.#order, filter: this.#filter });
  }

  dispose(): void {
    this.#parts.dispose();
  }
}

/** One wish of the filter. */
type FilterItem = vscode.QuickPickItem & { readonly wish: AgentSlot | number | 'flagged' | 'starred' | 'hidden' };

function filterItems(state: RunState, now: CandidateFilter): FilterItem[] {
  const options = [...new Set(state.archive.flatMap(({ option, origin }) => (origin ? [] : [option])))];
  const author = (slot: AgentSlot): FilterItem => ({
    wish: slot,
    label: `$(person) ${agentName(state, slot)}`,
    description: 'author',
    picked: now.authors.includes(slot),
  });
  return [
    ...(state.terms.policy.mode === 'single' ? [state.terms.policy.first] : (['A', 'B'] as const)).map(author),
    { wish: 'starred', label: '$(star-full) Starred', picked: now.starred },
    { wish: 'flagged', label: '$(warning) Flagged', description: 'the evaluation left a remark', picked: now.flagged },
    { wish: 'hidden', label: '$(eye-closed) Hidden Ones Too', picked: now.hidden },
    ...options.map((option): FilterItem => ({
      wish: option,
      label: `$(list-ordered) Option ${option}`,
      picked: now.options.includes(option),
    })),
  ];
}

function filterOf(chosen: readonly FilterItem[]): CandidateFilter {
  const wishes = chosen.map(({ wish }) => wish);
  return {
    authors: wishes.filter((wish) => wish === 'A' || wish === 'B'),
    options: wishes.filter((wish) => typeof wish === 'number'),
    flagged: wishes.includes('flagged'),
    starred: wishes.includes('starred'),
    hidden: wishes.includes('hidden'),
  };
}
