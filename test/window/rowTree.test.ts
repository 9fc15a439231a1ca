import { expect, test, vi } from 'vitest';

import { row, type TreeRow } from '../../src/window/treeRow.ts';

// What of vscode the tree touches; everything else of it is missed at once.
vi.mock('vscode', () => {
  class EventEmitter<T> {
    readonly #heard: ((what: T) => void)[] = [];
    readonly event = (listen: (what: T) => void) => void this.#heard.push(listen);
    fire(what: T): void {
      for (const listen of this.#heard) listen(what);
    }
  }
  class TreeItem {
    readonly label: string;
    readonly collapsibleState: number;
    constructor(label: string, collapsibleState: number) {
      this.label = label;
      this.collapsibleState = collapsibleState;
    }
  }
  class ThemeIcon {
    readonly id: string;
    constructor(id: string) {
      this.id = id;
    }
  }
  class MarkdownString {
    readonly value: string;
    readonly isTrusted = false;
    constructor(value: string) {
      this.value = value;
    }
  }
  const Uri = {
    from: (parts: { scheme: string; path: string; query: string }) => `${parts.scheme}:${parts.path}?${parts.query}`,
  };
  return {
    EventEmitter,
    TreeItem,
    ThemeIcon,
    MarkdownString,
    Uri,
    ThemeColor: ThemeIcon,
    TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  };
});

const { RowTree } = await import('../../src/window/rowTree.ts');

const leaf = (id: string, description = ''): TreeRow =>
  row({ id, label: id, description, icon: { id: 'check' }, context: 'leaf' });
const branch = (id: string, children: readonly TreeRow[]): TreeRow =>
  row({ id, label: id, icon: { id: 'folder' }, context: 'branch', expand: 'expanded', children });

/** A tree and the ids of all that it asked to be drawn again; `all` for everything. */
function watched(): { tree: InstanceType<typeof RowTree>; drawn: string[] } {
  const tree = new RowTree(({ id }) => (id === 'plain' ? '' : `**${id}**`));
  const drawn: string[] = [];
  tree.onDidChangeTreeData((nodes) => void drawn.push(...(nodes?.map((node) => node.row.id) ?? ['all'])));
  return { tree, drawn };
}

test('only what changed is drawn again, and everything only when the roots change', () => {
  const { tree, drawn } = watched();
  tree.update([branch('run', [branch('one', [leaf('e1')]), branch('two', [leaf('e2')])])]);
  expect(drawn.splice(0)).toEqual(['all']);
  tree.update([branch('run', [branch('one', [leaf('e1')]), branch('two', [leaf('e2', 'accepted')])])]);
  expect(drawn.splice(0)).toEqual(['e2']);
  tree.update([branch('run', [branch('one', [leaf('e1')]), branch('two', [leaf('e2', 'accepted'), leaf('e3')])])]);
  expect(drawn.splice(0)).toEqual(['two']);
  tree.update([branch('run', [branch('one', [leaf('e1')]), branch('two', [leaf('e2', 'accepted'), leaf('e3')])])]);
  expect(drawn).toEqual([]);
});

test('a thing is the same object for VS Code as long as it is shown, and knows its parent', () => {
  const { tree } = watched();
  tree.update([branch('run', [leaf('e1')])]);
  const [run] = tree.getChildren();
  const [before] = tree.getChildren(run);
  tree.update([branch('run', [leaf('e1', 'accepted'), leaf('e2')])]);
  const [now, other] = tree.getChildren(tree.getChildren()[0]);
  expect(now).toBe(before);
  expect(now?.row.description).toBe('accepted');
  expect(other && tree.getParent(other)).toBe(run);
  expect(run && tree.getParent(run)).toBeUndefined();
  tree.update([]);
  tree.update([branch('run', [leaf('e1')])]);
  expect(tree.getChildren()[0]).not.toBe(run);
});

test('an item carries id, words for a screen reader, capabilities and marks; its tooltip comes when asked for', () => {
  const { tree } = watched();
  const shown = {
    ...leaf('e1', 'accepted · 0.3'),
    spoken: 'Candidate e1, accepted',
    marks: ['final'],
    candidate: 'e1',
  };
  tree.update([shown, leaf('plain')]);
  const [node, plain] = tree.getChildren();
  if (!node || !plain) throw new Error('the tree has no rows');
  const item = tree.getTreeItem(node);
  expect(item).toEqual({
    ...{ id: 'e1', label: 'e1', description: 'accepted · 0.3', contextValue: 'leaf', collapsibleState: 0 },
    ...{
      iconPath: { id: 'check' },
      accessibilityInformation: { label: 'Candidate e1, accepted' },
      resourceUri: 'hma-mark:/e1?final',
    },
  });
  expect(item.tooltip).toBeUndefined();
  expect(tree.resolveTreeItem(item, node).tooltip).toEqual({ value: '**e1**', isTrusted: false });
  expect(tree.resolveTreeItem(tree.getTreeItem(plain), plain).tooltip).toBe('plain');
  expect(node.candidate).toBe('e1');
});
