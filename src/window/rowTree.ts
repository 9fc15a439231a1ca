import * as vscode from 'vscode';

import type { SessionName } from '../options/model.ts';
import { markUri } from './decorations.ts';
import { redrawOf, type TreeRow } from './treeRow.ts';

/** A row as VS Code holds it: the same object for as long as the thing is shown, whatever its words become. Menu commands get it. */
export class RowNode {
  row: TreeRow;
  readonly parent: RowNode | undefined;

  constructor(row: TreeRow, parent: RowNode | undefined) {
    this.row = row;
    this.parent = parent;
  }

  /** Id of the candidate that the row stands for. */
  get candidate(): string | null {
    return this.row.candidate;
  }

  /** The session whose terminal the row can show. */
  get session(): SessionName | null {
    return this.row.session;
  }
}

/** Shows rows in a tree and draws again only what changed. */
export class RowTree implements vscode.TreeDataProvider<RowNode>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<RowNode[] | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #tooltip: (row: TreeRow) => string;
  #rows: readonly TreeRow[] = [];
  #nodes = new Map<string, RowNode>();

  /** `tooltip` tells a row's whole story in Markdown, when somebody asks; empty = nothing more to tell. */
  constructor(tooltip: (row: TreeRow) => string) {
    this.#tooltip = tooltip;
  }

  get rows(): readonly TreeRow[] {
    return this.#rows;
  }

  /** Shows these rows from now on. */
  update(rows: readonly TreeRow[]): void {
    const redraw = redrawOf(this.#rows, rows);
    this.#rows = rows;
    const kept = new Map<string, RowNode>();
    this.#keep(rows, undefined, kept);
    this.#nodes = kept;
    if (redraw === 'all') this.#changed.fire(undefined);
    else if (redraw.size > 0) this.#changed.fire([...redraw].flatMap((id) => kept.get(id) ?? []));
  }

  #keep(rows: readonly TreeRow[], parent: RowNode | undefined, kept: Map<string, RowNode>): void {
    for (const row of rows) {
      const known = this.#nodes.get(row.id);
      const node = known && known.parent === parent ? known : new RowNode(row, parent);
      node.row = row;
      kept.set(row.id, node);
      if (row.children.length > 0) this.#keep(row.children, node, kept);
    }
  }

  getChildren(parent?: RowNode): RowNode[] {
    const rows = parent ? parent.row.children : this.#rows;
    return rows.flatMap(({ id }) => this.#nodes.get(id) ?? []);
  }

  getParent(node: RowNode): RowNode | undefined {
    return node.parent;
  }

  getTreeItem({ row }: RowNode): vscode.TreeItem {
    const item = new vscode.TreeItem(row.label, collapsible[row.expand]);
    item.id = row.id;
    item.description = row.description;
    item.contextValue = row.context;
    item.iconPath = new vscode.ThemeIcon(
      row.icon.id,
      row.icon.color === undefined ? undefined : new vscode.ThemeColor(row.icon.color),
    );
    item.accessibilityInformation = { label: row.spoken };
    if (row.marks.length > 0) item.resourceUri = markUri(row.id, row.marks);
    if (row.command) item.command = { ...row.command, arguments: [...row.command.arguments] };
    return item;
  }

  resolveTreeItem(item: vscode.TreeItem, { row }: RowNode): vscode.TreeItem {
    // Not trusted: what agents wrote can be read, never run.
    const words = this.#tooltip(row);
    item.tooltip = words === '' ? row.spoken : new vscode.MarkdownString(words);
    return item;
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

const collapsible = {
  none: vscode.TreeItemCollapsibleState.None,
  collapsed: vscode.TreeItemCollapsibleState.Collapsed,
  expanded: vscode.TreeItemCollapsibleState.Expanded,
};

/** Views without a folder: nothing but their welcome. */
export function registerEmptyTrees(): vscode.Disposable {
  const empty: vscode.TreeDataProvider<never> = { getChildren: () => [], getTreeItem: (none) => none };
  return vscode.Disposable.from(
    ...['hma.run', 'hma.candidates', 'hma.workspace'].map((view) =>
      vscode.window.registerTreeDataProvider(view, empty),
    ),
  );
}
