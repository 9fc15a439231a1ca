import * as vscode from 'vscode';

import type { RunState } from '../run/model.ts';
import type { WindowRoom } from './room.ts';
import { settings } from './settings.ts';
import { sessionKey, sessionsOf, shownSessions, type SessionView } from './terminalScript.ts';
import { SessionTail } from './terminalTail.ts';

/** Where the window remembers which sessions it showed: VS Code doesn't bring such terminals back. */
const memoryKey = 'terminals.shown';

/** What was shown, of one run. */
interface Remembered {
  readonly run: string;
  /** Sessions by their keys, in the order of their terminals. */
  readonly sessions: readonly string[];
}

/** Ended sessions whose terminals, opened by us, are left; the oldest goes when there are more. */
const mostEnded = 8;

/** A session's output as a terminal. It only shows: typing and closing change nothing of the session. */
class SessionScreen implements vscode.Pseudoterminal {
  readonly #write = new vscode.EventEmitter<string>();
  readonly onDidWrite = this.#write.event;
  readonly #runFolder: string;
  readonly #raw: boolean;
  #session: SessionView;
  #tail: SessionTail | undefined;
  #toldReadOnly = false;
  /** All of it was shown. */
  over = false;

  constructor(runFolder: string, session: SessionView, raw: boolean) {
    this.#runFolder = runFolder;
    this.#raw = raw;
    this.#session = session;
  }

  get session(): SessionView {
    return this.#session;
  }

  open(): void {
    this.#tail = new SessionTail({
      runFolder: this.#runFolder,
      session: this.#session,
      raw: this.#raw,
      write: (text) => this.#write.fire(text),
      onEnd: () => (this.over = true),
    });
  }

  update(session: SessionView): void {
    this.#session = session;
    this.#tail?.update(session);
  }

  handleInput(): void {
    if (this.#toldReadOnly) return;
    this.#toldReadOnly = true;
    vscode.window.setStatusBarMessage(
      '$(info) HMA: this terminal shows a recorded session; what is typed does not reach the agent.',
      5000,
    );
  }

  close(): void {
    this.#tail?.dispose();
    this.#tail = undefined;
  }

  dispose(): void {
    this.close();
    this.#write.dispose();
  }
}

interface Shown {
  readonly terminal: vscode.Terminal;
  readonly screen: SessionScreen;
  readonly byItself: boolean;
}

/**
 * The sessions' terminals, by run and session. The one that is going on is opened by itself (a setting), once: a person who closes it has
 * closed it. Ended ones are left as they are, so that each handoff can be seen: a fresh terminal for a fresh context. After a reload
 * they come back as they were. In an untrusted folder none opens by itself: VS Code would ask for trust, unasked.
 */
class SessionTerminals implements vscode.Disposable {
  readonly #room: WindowRoom;
  readonly #shown = new Map<string, Shown>();
  readonly #openedOnce = new Set<string>();
  readonly #parts: vscode.Disposable;
  #broughtBack = '';

  constructor(room: WindowRoom) {
    this.#room = room;
    this.#parts = vscode.Disposable.from(
      room.model.onDidChange(() => this.#follow()),
      vscode.window.onDidCloseTerminal((terminal) => this.#forget(terminal)),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#follow()),
      vscode.commands.registerCommand('hma.showTerminal', (given: unknown) => this.#showChosen(given, 'as set')),
      vscode.commands.registerCommand('hma.showRawOutput', (given: unknown) => this.#showChosen(given, 'raw')),
    );
    this.#follow();
  }

  #keyOf = (state: RunState, session: SessionView): string => `${state.run}/${sessionKey(session.name)}`;

  #follow(): void {
    const { state, presence } = this.#room.model;
    if (!state) return;
    for (const session of sessionsOf(state))
      for (const key of [this.#keyOf(state, session), `${this.#keyOf(state, session)}/raw`])
        this.#shown.get(key)?.screen.update(session);
    if (!vscode.workspace.isTrusted) return;
    this.#bringBack(state);
    const now = shownSessions(state)[0];
    if (presence !== 'live' || !now || now.ended !== null || !settings().openTerminals) return;
    const key = this.#keyOf(state, now);
    if (this.#openedOnce.has(key) || this.#shown.has(key)) return;
    this.#openedOnce.add(key);
    this.#tidy();
    this.#open(key, now, { byItself: true });
  }

  /** Opens again, behind what is open, what was shown before the window was loaded again; once for each run. */
  #bringBack(state: RunState): void {
    if (this.#broughtBack === state.run) return;
    this.#broughtBack = state.run;
    const { run, sessions }: Remembered = this.#room.context.workspaceState.get(memoryKey, { run: '', sessions: [] });
    if (run !== state.run || !settings().openTerminals) return;
    for (const session of shownSessions(state).toReversed()) {
      const key = this.#keyOf(state, session);
      if (session.ended === null || this.#shown.has(key) || !sessions.includes(sessionKey(session.name))) continue;
      this.#openedOnce.add(key);
      this.#open(key, session, { byItself: true, behind: true });
    }
  }

  #remember(): void {
    const run = this.#room.model.state?.run ?? '';
    const keys = [...this.#shown.keys()].filter((key) => key.startsWith(`${run}/`) && !key.endsWith('/raw'));
    const shown: Remembered = { run, sessions: keys.map((key) => key.slice(run.length + 1)) };
    void this.#room.context.workspaceState.update(memoryKey, shown);
  }

  #open(
    key: string,
    session: SessionView,
    how: { readonly byItself: boolean; readonly behind?: boolean; readonly raw?: boolean },
  ): void {
    const runFolder = this.#room.model.place?.folder;
    if (runFolder === undefined) return;
    // asked before: a new terminal may become the active one
    const mayCome = this.#mayComeForward();
    const screen = new SessionScreen(runFolder, session, how.raw ?? settings().rawTerminals);
    const terminal = vscode.window.createTerminal({
      name: how.raw ? `${session.title} (raw)` : session.title,
      pty: screen,
      isTransient: true,
      iconPath: new vscode.ThemeIcon(session.name.kind === 'review' ? 'law' : 'hubot'),
      color: new vscode.ThemeColor(session.slot === 'A' ? 'terminal.ansiCyan' : 'terminal.ansiMagenta'),
    });
    this.#shown.set(key, { terminal, screen, byItself: how.byItself });
    this.#remember();
    if (!how.byItself) terminal.show();
    else if (mayCome && how.behind !== true) terminal.show(true);
  }

  /** A terminal that opens by itself never takes the place of one that a person works in. */
  #mayComeForward(): boolean {
    const active = vscode.window.activeTerminal;
    return active === undefined || [...this.#shown.values()].some(({ terminal }) => terminal === active);
  }

  #tidy(): void {
    const ended = [...this.#shown].filter(
      ([, { byItself, screen, terminal }]) =>
        byItself && screen.session.ended !== null && terminal !== vscode.window.activeTerminal,
    );
    for (const [, { terminal }] of ended.slice(0, Math.max(0, ended.length - mostEnded + 1))) terminal.dispose();
  }

  #forget(terminal: vscode.Terminal): void {
    for (const [key, shown] of this.#shown) {
      if (shown.terminal !== terminal) continue;
      shown.screen.dispose();
      this.#shown.delete(key);
      // those that end with the window are to come back
      if (terminal.exitStatus?.reason !== vscode.TerminalExitReason.Shutdown) this.#remember();
    }
  }

  /** A row's session, or one that the person chooses; several only where there are several. */
  async #showChosen(given: unknown, how: 'as set' | 'raw'): Promise<void> {
    const { state } = this.#room.model;
    if (!state) return;
    const sessions = shownSessions(state);
    const named = given as { readonly session?: SessionView['name'] | null } | undefined;
    const wanted = named?.session ?? null;
    const session =
      wanted === null ? await choose(sessions) : sessions.find(({ name }) => sessionKey(name) === sessionKey(wanted));
    if (!session) {
      if (wanted !== null || sessions.length === 0)
        void vscode.window.showInformationMessage(
          'HMA: no program of this session was started yet, so there is nothing to show.',
        );
      return;
    }
    const raw = how === 'raw';
    const key = `${this.#keyOf(state, session)}${raw ? '/raw' : ''}`;
    const shown = this.#shown.get(key);
    if (shown) shown.terminal.show();
    else this.#open(key, session, { byItself: false, ...(raw && { raw }) });
  }

  dispose(): void {
    this.#parts.dispose();
    for (const { terminal, screen } of this.#shown.values()) {
      terminal.dispose();
      screen.dispose();
    }
  }
}

async function choose(sessions: readonly SessionView[]): Promise<SessionView | undefined> {
  const [only, another] = sessions;
  if (!another) return only;
  const rows = sessions.map((session) => ({
    label: `${session.ended === null ? '$(sync~spin)' : '$(terminal)'} ${session.title}`,
    description: session.ended === null ? 'going on' : `ended: ${session.ended}`,
    session,
  }));
  return (await vscode.window.showQuickPick(rows, { title: 'HMA: Which Session?' }))?.session;
}

/** Shows sessions as terminals. */
export const registerTerminals = (room: WindowRoom): vscode.Disposable => new SessionTerminals(room);
