import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';

import * as vscode from 'vscode';

import { adapterNames } from '../agents/adapterNames.ts';
import { presets } from '../agents/presets.ts';
import type { Completion, EditingSchema } from '../task/editing.ts';
import type { ContractMessage } from '../task/messages.ts';
import type { WindowRoom } from './room.ts';

/** The documents that are task contracts. */
const contracts: vscode.DocumentSelector = [{ pattern: '**/hma.yaml', scheme: 'file' }];

/** Quiet time after a keystroke before a contract is checked, ms. */
const quietMs = 300;

/** What knows contracts is big, and read when the first one is opened. */
const knowledge = () => Promise.all([import('../task/editing.ts'), import('../task/load.ts')]);

const schemaOf = (context: vscode.ExtensionContext): (() => Promise<EditingSchema>) => {
  let read: Promise<EditingSchema> | undefined;
  return () =>
    (read ??= readFile(join(context.extensionPath, 'media', 'hma.schema.json'), 'utf8').then(
      (text) => JSON.parse(text) as EditingSchema,
    ));
};

/** `hma.yaml` in the editor: completion, hover, problems with quick fixes, and the two things to do with it as lenses above it. */
export function registerContractEditor({ context, model }: WindowRoom): vscode.Disposable {
  const schema = schemaOf(context);
  const problems = new ContractProblems();
  const lenses = new Lenses(() => model.presence !== 'none' && model.state?.phase !== 'finished');
  return vscode.Disposable.from(
    problems,
    lenses,
    model.onDidChange(({ events }) => {
      if (events.length === 0 || events.some(({ type }) => type === 'run.finished' || type === 'run.opened'))
        lenses.refresh();
    }),
    vscode.languages.registerCodeLensProvider(contracts, lenses),
    vscode.languages.registerCodeActionsProvider(contracts, problems, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    vscode.languages.registerCompletionItemProvider(
      contracts,
      {
        provideCompletionItems: async (document, position) => {
          const [{ completionsAt }] = await knowledge();
          const words = (path: readonly (string | number)[]): string[] =>
            /^agents\.[AB](\.adapter)?$/.test(path.join('.')) ? [...adapterNames] : [];
          return completionsAt(document.getText(), document.offsetAt(position), { schema: await schema(), words }).map(
            (one, index) => itemOf(one, index, document),
          );
        },
      },
      ' ',
      '\n',
      '{',
    ),
    vscode.languages.registerHoverProvider(contracts, {
      provideHover: async (document, position) => {
        const [{ hoverAt }] = await knowledge();
        const found = hoverAt(document.getText(), document.offsetAt(position), await schema());
        return (
          found &&
          new vscode.Hover(
            new vscode.MarkdownString(found.markdown),
            new vscode.Range(document.positionAt(found.from), document.positionAt(found.to)),
          )
        );
      },
    }),
  );
}

function itemOf(one: Completion, index: number, document: vscode.TextDocument): vscode.CompletionItem {
  const item = new vscode.CompletionItem(
    one.label,
    one.kind === 'key' ? vscode.CompletionItemKind.Property : vscode.CompletionItemKind.EnumMember,
  );
  item.insertText = one.insert;
  item.range = new vscode.Range(document.positionAt(one.from), document.positionAt(one.to));
  item.detail = one.required ? `${one.detail} · required` : one.detail;
  item.documentation = new vscode.MarkdownString(one.description);
  item.sortText = `${one.required ? 0 : 1}${String(index).padStart(3, '0')}`;
  if (one.kind === 'key' && one.insert.endsWith(': '))
    item.command = { command: 'editor.action.triggerSuggest', title: 'Suggest' };
  return item;
}

class Lenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #running: () => boolean;

  constructor(running: () => boolean) {
    this.#running = running;
  }

  refresh(): void {
    this.#changed.fire();
  }

  provideCodeLenses(): vscode.CodeLens[] {
    const top = new vscode.Range(0, 0, 0, 0);
    const first = this.#running()
      ? {
          title: '$(eye)\u00a0Show the Run',
          command: 'hma.run.focus',
          tooltip: 'A run works in this folder. It keeps the task as it was at its start.',
        }
      : {
          title: '$(play)\u00a0Start Alternation',
          command: 'hma.start',
          tooltip: 'Check the task and start a run on this folder.',
        };
    return [
      new vscode.CodeLens(top, first),
      new vscode.CodeLens(top, {
        title: '$(checklist)\u00a0Check the Task',
        command: 'hma.check',
        tooltip: 'Look at all that a run needs, without starting one.',
      }),
    ];
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/** A problem that remembers the message it was made from. */
class ContractDiagnostic extends vscode.Diagnostic {
  readonly said: ContractMessage;

  constructor(said: ContractMessage) {
    const severity = said.severity === 'error' ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
    super(
      new vscode.Range(said.line - 1, said.column - 1, said.endLine - 1, said.endColumn - 1),
      `${said.what}\n${said.fix}`.replaceAll('`', "'"), // plain text is shown, not Markdown
      severity,
    );
    this.source = 'hma';
    this.code = said.code;
    this.said = said;
  }
}

/** The contract's messages as problems, for saved and unsaved text alike. */
class ContractProblems implements vscode.CodeActionProvider, vscode.Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection('hma');
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Files that a contract's messages lie in, by the contract. */
  readonly #files = new Map<string, readonly vscode.Uri[]>();
  readonly #parts: vscode.Disposable;

  constructor() {
    this.#parts = vscode.Disposable.from(
      this.#collection,
      vscode.workspace.onDidOpenTextDocument((document) => this.#soon(document, 0)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#soon(document, quietMs)),
      // what stands beside it, an objective or an evaluator, may have been made or changed
      vscode.workspace.onDidSaveTextDocument(() => this.#all()),
      vscode.workspace.onDidCreateFiles(() => this.#all()),
      vscode.workspace.onDidDeleteFiles(() => this.#all()),
      vscode.workspace.onDidCloseTextDocument((document) => this.#forget(document)),
    );
    this.#all();
  }

  #all(): void {
    for (const document of vscode.workspace.textDocuments) this.#soon(document, 0);
  }

  #soon(document: vscode.TextDocument, ms: number): void {
    if (vscode.languages.match(contracts, document) === 0) return;
    const key = document.uri.toString();
    clearTimeout(this.#timers.get(key));
    this.#timers.set(
      key,
      setTimeout(() => void this.#check(document), ms),
    );
  }

  async #check(document: vscode.TextDocument): Promise<void> {
    const { version } = document;
    const [, { loadContract }] = await knowledge();
    const workspace = dirname(document.uri.fsPath);
    const loaded = await loadContract({
      workspace,
      text: document.getText(),
      given: { wall: Date.now(), adapters: adapterNames, presets },
    });
    if (document.isClosed || document.version !== version) return;
    const byFile = new Map<string, ContractDiagnostic[]>();
    for (const message of loaded.ok ? loaded.value.warnings : loaded.refusal.messages) {
      const file = isAbsolute(message.file) ? message.file : join(workspace, message.file);
      byFile.set(file, [...(byFile.get(file) ?? []), new ContractDiagnostic(message)]);
    }
    this.#forget(document);
    const uris = [...byFile].map(([file, found]) => {
      const uri = vscode.Uri.file(file);
      this.#collection.set(uri, found);
      return uri;
    });
    this.#files.set(document.uri.toString(), uris);
  }

  #forget(document: vscode.TextDocument): void {
    for (const uri of this.#files.get(document.uri.toString()) ?? []) this.#collection.delete(uri);
    this.#files.delete(document.uri.toString());
  }

  async provideCodeActions(
    document: vscode.TextDocument,
    _range: vscode.Range,
    { diagnostics }: vscode.CodeActionContext,
  ): Promise<vscode.CodeAction[]> {
    const [{ repairOf }] = await knowledge();
    return diagnostics.flatMap((shown) => {
      // VS Code hands back copies: ours is the one at the same place with the same words
      const own = this.#collection
        .get(document.uri)
        ?.find((one) => one.message === shown.message && one.range.isEqual(shown.range));
      const repair = own instanceof ContractDiagnostic ? repairOf(own.said) : undefined;
      if (!repair) return [];
      const action = new vscode.CodeAction(repair.title, vscode.CodeActionKind.QuickFix);
      action.diagnostics = [shown];
      action.isPreferred = true;
      action.edit = new vscode.WorkspaceEdit();
      const { edit } = repair;
      if (edit.kind === 'replace') action.edit.replace(document.uri, shown.range, edit.text);
      else if (edit.kind === 'insertLine')
        action.edit.insert(
          document.uri,
          document.lineAt(document.lineCount - 1).range.end,
          `${document.lineAt(document.lineCount - 1).text === '' ? '' : '\n'}${edit.text}\n`,
        );
      else
        action.edit.createFile(vscode.Uri.file(join(dirname(document.uri.fsPath), edit.path)), {
          contents: Buffer.from('Say here what the agents are to achieve, and what they may not change.\n'),
        });
      return [action];
    });
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#parts.dispose();
  }
}
