import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { IntentReply } from '../../src/protocol/client.ts';
import type { RunState } from '../../src/run/model.ts';
import { ReviewPanels, reviewViewType, type ReviewDeps } from '../../src/window/reviewPanel.ts';
import type { ToHost, ToPage } from '../../src/window/reviewMessages.ts';
import { at, present, scene } from './scenes.ts';

// What ReviewPanels uses of VS Code, acted out: panels that a person shows, hides and closes.
const window = vi.hoisted(() => ({
  panels: [] as FakePanel[],
  types: [] as string[],
  serializer: null as { deserializeWebviewPanel(panel: unknown): Promise<void> } | null,
}));
vi.mock('vscode', () => ({
  ViewColumn: { Active: -1 },
  Uri: {
    joinPath: (base: { path: string }, ...parts: string[]) => ({
      path: [base.path, ...parts].join('/'),
      toString: () => [base.path, ...parts].join('/'),
    }),
  },
  window: {
    registerWebviewPanelSerializer(viewType: string, serializer: typeof window.serializer) {
      window.types.push(viewType);
      window.serializer = serializer;
      return { dispose: () => (window.serializer = null) };
    },
    createWebviewPanel(viewType: string) {
      window.types.push(viewType);
      return panel();
    },
  },
}));

type Listener<Value> = (value: Value) => void;

/** One tab. `posted`: what the page got, while it was visible. */
interface FakePanel {
  readonly posted: ToPage[];
  title: string;
  html(): string;
  says(message: unknown): void;
  setVisible(visible: boolean): void;
  close(): void;
  reveals: number;
  disposed: boolean;
}

function panel(): FakePanel & { readonly webview: object } {
  const heard: { message: Listener<unknown>[]; view: Listener<unknown>[]; gone: Listener<unknown>[] } = {
    message: [],
    view: [],
    gone: [],
  };
  const on = (list: Listener<unknown>[]) => (listener: Listener<unknown>) => {
    list.push(listener);
    return { dispose: () => list.splice(list.indexOf(listener), 1) };
  };
  const made = {
    ...{ posted: [] as ToPage[], title: '', visible: true, reveals: 0, disposed: false },
    webview: {
      ...{ html: '', options: {}, cspSource: 'https://csp.test' },
      asWebviewUri: (uri: { path: string }) => ({ toString: () => `https://webview.test${uri.path}` }),
      onDidReceiveMessage: on(heard.message),
      postMessage(message: ToPage) {
        if (made.disposed) throw new Error('Webview is disposed');
        if (made.visible) made.posted.push(message);
        return Promise.resolve(made.visible);
      },
    },
    onDidChangeViewState: on(heard.view),
    onDidDispose: on(heard.gone),
    reveal: () => void (made.reveals += 1),
    dispose() {
      if (made.disposed) return;
      made.disposed = true;
      for (const each of [...heard.gone]) each(undefined);
    },
    html: () => made.webview.html,
    says: (message: unknown) => {
      for (const each of [...heard.message]) each(message);
    },
    setVisible(visible: boolean) {
      made.visible = visible;
      for (const each of [...heard.view]) each(undefined);
    },
    close: () => made.dispose(),
  };
  window.panels.push(made);
  return made;
}

const entries = [{ score: 0.5 }, { score: 0.9, by: 'B', option: 2 }, { score: 0.8, by: 'B', option: 2 }] as const;

/** A run of three experiments, and how it was after two: what didn't change is the same object, as folding events leaves it. */
const whole = scene(entries);
const begun: RunState = { ...whole, archive: whole.archive.slice(0, 2), experiments: whole.experiments.slice(0, 2) };

/** A window with a run in it; `change` goes on with it, `done` is what the page asked for. */
function stage(first: RunState | null = begun) {
  let state = first;
  let reply: IntentReply | Error = { done: true } as IntentReply;
  const listeners: Listener<unknown>[] = [];
  const done: unknown[] = [];
  const note =
    (what: string) =>
    (...given: unknown[]): Promise<void> => {
      done.push([what, ...given]);
      return reply instanceof Error ? Promise.reject(reply) : Promise.resolve();
    };
  const deps: ReviewDeps = {
    state: () => state,
    given: () => at(60),
    presence: () => present,
    onDidChange(listener) {
      listeners.push(listener);
      return { dispose: () => listeners.splice(listeners.indexOf(listener), 1) };
    },
    intend(intent) {
      done.push(intent);
      return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
    },
    marks: {
      starred: () => false,
      hidden: () => false,
      setStarred: (...given) => void note('star')(...given),
      setHidden: (...given) => void note('hide')(...given),
    },
    openDiff: note('diff'),
    openFiles: note('files'),
    apply: note('apply'),
    prices: () => ({}),
    act: note('act'),
    gradeAll: note('gradeAll'),
  };
  const uri = { path: '/extension' } as never;
  return {
    panels: new ReviewPanels({ extensionUri: uri }, deps),
    done,
    listeners,
    answer: (next: IntentReply | Error) => (reply = next),
    change: (next: RunState | null): void => {
      state = next;
      for (const each of [...listeners]) each(undefined);
    },
  };
}

const tab = (): FakePanel => window.panels.at(-1)!;
const kinds = (): string[] => tab().posted.map(({ type }) => type);
const ready: ToHost = { type: 'ready' };

beforeEach(() => {
  window.panels.length = 0;
  window.types.length = 0;
  vi.useFakeTimers();
  return () => void vi.useRealTimers();
});

describe('the tab', () => {
  test('opens once, and is brought to the front the second time', () => {
    const { panels } = stage();
    expect(panels.open).toBe(false);
    panels.show();
    panels.show();
    expect([window.panels.length, tab().reveals, panels.open]).toEqual([1, 1, true]);
    expect(window.types).toEqual([reviewViewType, reviewViewType]); // for VS Code to bring back, and to open
    tab().close();
    expect(panels.open).toBe(false);
    panels.show();
    expect(window.panels).toHaveLength(2);
  });

  test('loads its own script and stylesheet only, with a nonce that is never the same', () => {
    const { panels } = stage();
    const nonceOf = (): string => /script-src 'nonce-([^']+)'/.exec(tab().html())?.[1] ?? '';
    panels.show();
    const first = nonceOf();
    expect(tab().html()).toContain('src="https://webview.test/extension/dist/review.js"');
    expect(tab().html()).toContain("default-src 'none'");
    tab().close();
    panels.show();
    expect(first).not.toBe('');
    expect(nonceOf()).not.toBe(first);
  });

  test('a tab that VS Code brings back after a reload takes the place of one that is open', async () => {
    const { panels } = stage();
    panels.show();
    const old = tab();
    await window.serializer?.deserializeWebviewPanel(panel());
    expect([old.disposed, tab().disposed, panels.open]).toEqual([true, false, true]);
    tab().says(ready);
    expect(kinds()).toEqual(['model']);
  });

  test('everything is let go with the window', () => {
    const { panels, listeners } = stage();
    panels.show();
    panels.dispose();
    expect([tab().disposed, listeners.length, window.serializer]).toEqual([true, 0, null]);
  });
});

describe('what the page is told', () => {
  test('nothing until it is ready, then everything, then what changed', () => {
    const { panels, change } = stage();
    panels.show();
    change(begun);
    expect(kinds()).toEqual([]);
    tab().says(ready);
    expect(tab().posted).toMatchObject([{ type: 'model', rows: [{ id: 'e1' }, { id: 'e2' }] }]);
    expect(tab().title).toBe('Final Review: digits');
    vi.advanceTimersByTime(1000);
    change(whole);
    vi.advanceTimersByTime(0);
    expect(tab().posted[1]).toMatchObject({ type: 'rows', rows: [{ id: 'e3' }], frame: { standing: 'e3' } });
  });

  test('a burst of events is one message', () => {
    const { panels, change } = stage();
    panels.show();
    tab().says(ready);
    for (let times = 0; times < 20; times++) change(whole);
    vi.advanceTimersByTime(1000);
    expect(kinds()).toEqual(['model', 'rows']);
  });

  test('a hidden page is told nothing, and everything when it is back', () => {
    const { panels, change } = stage();
    panels.show();
    tab().says(ready);
    tab().setVisible(false);
    change(whole);
    vi.advanceTimersByTime(1000);
    expect(kinds()).toEqual(['model']);
    tab().setVisible(true);
    tab().says(ready);
    expect(tab().posted[1]).toMatchObject({ type: 'model', rows: [{ id: 'e1' }, { id: 'e2' }, { id: 'e3' }] });
  });

  test('another run is told as a whole; none with words', () => {
    const { panels, change } = stage();
    panels.show();
    tab().says(ready);
    change({ ...whole, run: '20261130-100000-cd34' });
    vi.advanceTimersByTime(1000);
    change(null);
    vi.advanceTimersByTime(1000);
    expect(kinds()).toEqual(['model', 'model', 'empty']);
  });

  test('a candidate that was asked for is gone to as soon as the page can', () => {
    const { panels } = stage();
    panels.show('e2');
    expect(kinds()).toEqual([]);
    tab().says(ready);
    expect(tab().posted[1]).toEqual({ type: 'focus', candidate: 'e2' });
    panels.show('e1');
    expect(tab().posted[2]).toEqual({ type: 'focus', candidate: 'e1' });
  });

  test('a tab that was closed is told nothing more', () => {
    const { panels, change } = stage();
    panels.show();
    tab().says(ready);
    change(whole);
    tab().close();
    vi.advanceTimersByTime(1000);
    expect(kinds()).toEqual(['model']);
  });
});

describe('what the page asks for', () => {
  test('is handed on, trimmed; what is no message is dropped', () => {
    const { panels, done } = stage();
    panels.show();
    const asks: unknown[] = [
      { type: 'select', candidate: 'e1', reason: '  smallest ' },
      { type: 'clear', reason: '' },
      { type: 'reveal' },
      { type: 'star', candidate: 'e1', on: true },
      { type: 'hide', candidate: 'e2', on: false },
      { type: 'diff', before: 'e1', after: 'e2' },
      { type: 'files', candidate: 'e1' },
      { type: 'apply' },
      { type: 'act', act: 'grade', candidate: 'e1' },
      { type: 'gradeAll' },
      { type: 'toString' },
      { type: 'select', candidate: 7 },
    ];
    for (const each of asks) tab().says(each);
    expect(done).toEqual([
      { kind: 'select', candidate: 'e1', reason: 'smallest' },
      { kind: 'clearSelection', reason: '' },
      { kind: 'revealGrades' },
      ['star', 'e1', true],
      ['hide', 'e2', false],
      ['diff', 'e1', 'e2'],
      ['files', 'e1'],
      ['apply'],
      ['act', 'grade', 'e1'],
      ['gradeAll'],
    ]);
  });

  test.each([
    [
      'a refusal',
      { done: false, text: 'The run has no such candidate.' } as IntentReply,
      'The run has no such candidate.',
    ],
    ['a failure', new Error('The socket is gone.'), 'The socket is gone.'],
  ])('%s comes back to the page in words', async (_, reply, text) => {
    const { panels, answer } = stage();
    panels.show();
    tab().says(ready);
    answer(reply);
    tab().says({ type: 'select', candidate: 'e9', reason: 'x' });
    await vi.advanceTimersByTimeAsync(0);
    expect(tab().posted[1]).toEqual({ type: 'refused', text });
  });

  test('so does a diff that can’t be opened', async () => {
    const { panels, answer } = stage();
    panels.show();
    tab().says(ready);
    answer(new Error('e9 is not in the archive.'));
    tab().says({ type: 'diff', before: 'e1', after: 'e9' });
    await vi.advanceTimersByTimeAsync(0);
    expect(tab().posted[1]).toEqual({ type: 'refused', text: 'e9 is not in the archive.' });
  });
});
