import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setup, suite, suiteTeardown, test } from 'mocha';
import * as vscode from 'vscode';
import { until } from '../hosts/waiting.ts';

// hma.yaml as VS Code's own commands see it: the same as a person does at the caret.
suite('hma.yaml in the editor', () => {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
  const path = join(folder, 'hma.yaml');
  const uri = vscode.Uri.file(path);
  let document: vscode.TextDocument;

  const show = async (text: string): Promise<void> => {
    document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document);
    const all = new vscode.Range(0, 0, document.lineCount, 0);
    assert.ok(await editor.edit((edit) => edit.replace(all, text)));
  };
  /** The position right after some words. */
  const after = (words: string): vscode.Position => {
    const at = document.getText().indexOf(words);
    assert.ok(at >= 0, `the document has no ${JSON.stringify(words)}`);
    return document.positionAt(at + words.length);
  };
  const problems = () => vscode.languages.getDiagnostics(uri);
  const whole = [
    'objective: Make it better.',
    'candidate: [a.txt]',
    'evaluate: { command: [node, evaluate.mjs] }',
    'metric: { name: score, direction: maximize }',
    'agents:',
    '  A: { name: a, adapter: command, command: [node, a.mjs] }',
    '  B: { name: b, adapter: command, command: [node, b.mjs] }',
    'budgets: { total: 1h, review: 5m }',
    '',
  ].join('\n');

  setup(() => {
    writeFileSync(join(folder, 'evaluate.mjs'), '');
    writeFileSync(join(folder, 'a.txt'), '');
    writeFileSync(path, whole);
  });
  suiteTeardown(async () => {
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.workspace.fs.delete(uri);
  });

  test('completion offers keys that fit, and values where there are few', async () => {
    await show(`${whole}po`);
    const at = async (position: vscode.Position) => {
      const list = await vscode.commands.executeCommand<vscode.CompletionList>(
        'vscode.executeCompletionItemProvider',
        uri,
        position,
      );
      return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    };
    const keys = await at(after('review: 5m }\npo'));
    assert.ok(keys.includes('policy'), `no policy among ${keys.join()}`);
    assert.ok(!keys.includes('objective'), 'a key that is there already is offered once more');
    const directions = await at(after('direction: '));
    assert.deepEqual(directions.filter((one) => one.endsWith('imize')).toSorted(), ['maximize', 'minimize']);
  });

  test('hovering a key tells what it means', async () => {
    await show(whole);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      uri,
      after('candi'),
    );
    const words = hovers.flatMap(({ contents }) => contents.map((one) => (typeof one === 'string' ? one : one.value)));
    assert.match(words.join('\n'), /candidate/i);
  });

  test('a problem is marked at its place, and a quick fix that is clear mends it', async () => {
    await show(whole.replace('candidate:', 'candidat:'));
    const problem = await until('a problem on the misspelt key', () =>
      problems().find(({ range }) => document.getText(range) === 'candidat'),
    );
    assert.equal(problem.source, 'hma');
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      uri,
      problem.range,
      vscode.CodeActionKind.QuickFix.value,
    );
    const fix = actions.find(({ edit }) => edit !== undefined);
    assert.ok(fix?.edit, `no quick fix among ${actions.map(({ title }) => title).join()}`);
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.equal(document.getText(), whole);
    await until('no problem any more', () => problems().length === 0);
  });

  test('the lenses above it start and check the task', async () => {
    await show(whole);
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri, 10);
    assert.deepEqual(
      lenses.map(({ command }) => command?.command),
      ['hma.start', 'hma.check'],
    );
  });
});
