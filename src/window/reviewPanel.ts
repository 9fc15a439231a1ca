import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { Prices } from '../analysis/usage.ts';
import type { Given } from '../base/fact.ts';
import type { Intent, IntentReply } from '../protocol/client.ts';
import type { RunState } from '../run/model.ts';
import { pageHtml } from './reviewHtml.ts';
import { readReviewMessage } from './reviewInbox.ts';
import type { CandidateAct, ToHost, ToPage } from './reviewMessages.ts';
import { reviewFrame, reviewRows, type Marks, type Presence, type ReviewRows } from './reviewModel.ts';

/** Where VS Code finds the page again after a reload; `onWebviewPanel:hma.review` activates the extension for it. */
export const reviewViewType = 'hma.review';

/** What the final-review page needs of the window around it. */
export interface ReviewDeps {
  /** The run that is shown now; null when there is none. */
  state(): RunState | null;
  given(): Given;
  prices(): Prices;
  presence(): Presence;
  /** Fires after the state, the presence or the marks have changed, or another run is shown. */
  readonly onDidChange: vscode.Event<unknown>;
  /** Sends an intent; the person's name is filled in by the window. Never rejects. */
  intend(intent: WithoutName<ReviewIntent>): Promise<IntentReply>;
  readonly marks: Marks & { setStarred(id: string, on: boolean): void; setHidden(id: string, on: boolean): void };
  openDiff(before: string, after: string): Promise<void>;
  openFiles(candidate: string): Promise<void>;
  apply(): Promise<void>;
  /** Asks in the window's own dialogs, then does it. */
  act(act: CandidateAct, candidate: string): Promise<void>;
  gradeAll(): Promise<void>;
}

type ReviewIntent = Extract<Intent, { kind: 'select' | 'clearSelection' | 'revealGrades' }>;
type WithoutName<Kind> = Kind extends unknown ? Omit<Kind, 'by'> : never;

/** The least time between two messages about changes, ms: a burst of events is one message. */
const breath = 50;

/**
 * The editor tab with the final review: one per window, showing the run that the window shows. It keeps nothing while it is hidden:
 * the page says `ready` whenever it is loaded again and gets everything anew.
 */
export class ReviewPanels implements vscode.Disposable {
  readonly #context: Pick<vscode.ExtensionContext, 'extensionUri'>;
  readonly #deps: ReviewDeps;
  readonly #disposables: vscode.Disposable[] = [];
  #page: ReviewPage | null = null;

  constructor(context: Pick<vscode.ExtensionContext, 'extensionUri'>, deps: ReviewDeps) {
    this.#context = context;
    this.#deps = deps;
    const deserializeWebviewPanel = (panel: vscode.WebviewPanel): Promise<void> => {
      this.#page?.dispose();
      this.#adopt(panel);
      return Promise.resolve();
    };
    this.#disposables.push(vscode.window.registerWebviewPanelSerializer(reviewViewType, { deserializeWebviewPanel }));
  }

  /** Whether the page is open, visible or not. */
  get open(): boolean {
    return this.#page !== null;
  }

  /** Opens the page or brings it to the front; with a candidate, goes to its row. */
  show(candidate?: string): void {
    if (this.#page) this.#page.reveal();
    else this.#adopt(vscode.window.createWebviewPanel(reviewViewType, 'Final Review', vscode.ViewColumn.Active, {}));
    if (candidate !== undefined) this.#page?.focus(candidate);
  }

  /** Opens the page, unless it is open, and leaves the person where they are. */
  offer(): void {
    if (this.#page) return;
    const place = { viewColumn: vscode.ViewColumn.Active, preserveFocus: true };
    this.#adopt(vscode.window.createWebviewPanel(reviewViewType, 'Final Review', place, {}));
  }

  #adopt(panel: vscode.WebviewPanel): void {
    const page = new ReviewPage(panel, this.#context.extensionUri, this.#deps);
    this.#page = page;
    panel.onDidDispose(() => {
      page.dispose();
      if (this.#page === page) this.#page = null;
    });
  }

  dispose(): void {
    this.#page?.dispose();
    for (const each of this.#disposables) each.dispose();
  }
}

/** One tab and its page. */
class ReviewPage implements vscode.Disposable {
  readonly #panel: vscode.WebviewPanel;
  readonly #deps: ReviewDeps;
  readonly #disposables: vscode.Disposable[] = [];
  /** What the page has; null until it is ready, and again once it is hidden. */
  #sent: ReviewRows | null = null;
  #ready = false;
  #wanted: string | null = null;
  #timer: NodeJS.Timeout | null = null;
  #lastSent = 0;
  #gone = false;

  constructor(panel: vscode.WebviewPanel, extensionUri: vscode.Uri, deps: ReviewDeps) {
    this.#panel = panel;
    this.#deps = deps;
    const dist = vscode.Uri.joinPath(extensionUri, 'dist');
    const { webview } = panel;
    webview.options = { enableScripts: true, enableForms: false, localResourceRoots: [dist] };
    const address = (file: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, file)).toString();
    this.#disposables.push(
      webview.onDidReceiveMessage((value: unknown) => this.#receive(value)),
      panel.onDidChangeViewState(() => this.#changeVisibility()),
      deps.onDidChange(() => this.#later()),
    );
    webview.html = pageHtml({
      ...{ source: webview.cspSource, nonce: randomBytes(18).toString('base64'), title: 'Final Review' },
      ...{ script: address('review.js'), style: address('review.css') },
    });
  }

  reveal(): void {
    this.#panel.reveal();
  }

  /** Goes to a candidate's row, at once or when the page is ready. */
  focus(candidate: string): void {
    if (this.#ready) this.#post({ type: 'focus', candidate });
    else this.#wanted = candidate;
  }

  dispose(): void {
    if (this.#gone) return;
    this.#gone = true;
    if (this.#timer) clearTimeout(this.#timer);
    for (const each of this.#disposables) each.dispose();
    this.#panel.dispose();
  }

  /** VS Code drops the document of a hidden tab; a page that comes back says `ready` by itself. */
  #changeVisibility(): void {
    if (this.#panel.visible) return;
    this.#ready = false;
    this.#sent = null;
  }

  readonly #handlers: { readonly [Type in ToHost['type']]: (message: Extract<ToHost, { type: Type }>) => void } = {
    ready: () => {
      this.#ready = true;
      this.#sent = null;
      this.#send();
      if (this.#wanted !== null) this.#post({ type: 'focus', candidate: this.#wanted });
      this.#wanted = null;
    },
    select: ({ candidate, reason }) => this.#intend({ kind: 'select', candidate, reason: reason.trim() }),
    clear: ({ reason }) => this.#intend({ kind: 'clearSelection', reason: reason.trim() }),
    reveal: () => this.#intend({ kind: 'revealGrades' }),
    star: ({ candidate, on }) => this.#deps.marks.setStarred(candidate, on),
    hide: ({ candidate, on }) => this.#deps.marks.setHidden(candidate, on),
    diff: ({ before, after }) => this.#try(this.#deps.openDiff(before, after)),
    files: ({ candidate }) => this.#try(this.#deps.openFiles(candidate)),
    act: ({ act, candidate }) => this.#try(this.#deps.act(act, candidate)),
    gradeAll: () => this.#try(this.#deps.gradeAll()),
    apply: () => this.#try(this.#deps.apply()),
  };

  #receive(value: unknown): void {
    const message = readReviewMessage(value);
    if (!message || this.#gone) return;
    // Each handler takes exactly the messages of its own type; the map's type says so, an index by a union can't.
    (this.#handlers[message.type] as (given: ToHost) => void)(message);
  }

  #intend(intent: WithoutName<ReviewIntent>): void {
    const refused = (text: string): void => this.#post({ type: 'refused', text });
    this.#deps.intend(intent).then(
      (reply) => (reply.done ? undefined : refused(reply.text)),
      (error: unknown) => refused(wordsOf(error)),
    );
  }

  #try(done: Promise<void>): void {
    done.catch((error: unknown) => this.#post({ type: 'refused', text: wordsOf(error) }));
  }

  /** Sends what has changed soon: at once after a quiet time, else a breath after the message before. */
  #later(): void {
    if (this.#timer || !this.#ready) return;
    const wait = Math.max(0, this.#lastSent + breath - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#send();
    }, wait);
  }

  #send(): void {
    if (!this.#ready || this.#gone) return;
    this.#lastSent = performance.now();
    const state = this.#deps.state();
    if (!state) {
      this.#sent = null;
      this.#post({ type: 'empty', text: 'There is no run to look at. Start an alternation, or open a past run.' });
      return;
    }
    const rows = reviewRows(state, this.#deps.marks, this.#sent);
    const whole = this.#sent?.run !== state.run;
    this.#sent = rows;
    const [given, presence] = [this.#deps.given(), this.#deps.presence()];
    const frame = reviewFrame(state, { given, presence, recordId: rows.record, prices: this.#deps.prices() });
    this.#panel.title = `Final Review: ${state.terms.name}`;
    this.#post({ type: whole ? 'model' : 'rows', frame, rows: whole ? [...rows.all.values()] : rows.changed });
  }

  #post(message: ToPage): void {
    // Resolves to false when the tab is hidden; the page then asks anew when it is back.
    void this.#panel.webview.postMessage(message);
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
