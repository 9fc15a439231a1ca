import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, suiteSetup, suiteTeardown, test } from 'mocha';
import * as vscode from 'vscode';
import { until } from '../hosts/waiting.ts';

// The archive through VS Code's own documents and diffs, on a real run of two scripted agents that began without any candidate file.
suite('candidates in the editor', () => {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
  const rig = join(vscode.extensions.getExtension('hma.hma')?.extensionPath ?? '', 'test/rig');

  /** Runs two scripted agents to the end, by `hma run`; answers the run's id. */
  const run = (alpha: object, beta: object, experiments: number, ...words: string[]): string => {
    const agent = (name: string, plan: object) => ({
      ...{ name, adapter: 'command' },
      command: [process.execPath, join(rig, 'agent.mjs'), JSON.stringify(plan)],
    });
    const contract = {
      objective: 'Make the number in candidate.txt large.',
      candidate: ['candidate.txt'],
      evaluate: { command: [process.execPath, 'evaluate.mjs'] },
      metric: { name: 'number', direction: 'maximize' },
      agents: { A: agent('alpha', alpha), B: agent('beta', beta) },
      budgets: { total: '5m', review: '30s', experiments },
      isolation: 'none',
    };
    writeFileSync(join(folder, 'hma.yaml'), JSON.stringify(contract));
    const cli = join(rig, '../../dist/cli.js');
    const ran = spawnSync(process.execPath, [cli, 'run', '--json', ...words], { cwd: folder, encoding: 'utf8' });
    assert.equal(ran.status, 0, ran.stderr || ran.stdout);
    const [opened] = ran.stdout.split('\n');
    return (JSON.parse(opened ?? '') as { data: { run: string } }).data.run;
  };
  let first = '';

  suiteSetup(async function () {
    this.timeout(120_000);
    cpSync(join(rig, 'evaluate.mjs'), join(folder, 'evaluate.mjs'));
    first = run({ 1: [{ submit: '1' }, { submit: '3' }], review: [{ nominate: 'e2' }] }, { 2: [{ submit: '2' }] }, 3);
    await vscode.extensions.getExtension('hma.hma')?.activate();
  });
  suiteTeardown(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const name of ['hma.yaml', 'evaluate.mjs', 'candidate.txt']) rmSync(join(folder, name), { force: true });
  });

  /** What the tab in front shows: its title, and the two sides of a diff as text. */
  const shown = async (title: string): Promise<readonly string[]> => {
    const input = await until(`a tab called ${title}`, () => {
      const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
      return tab?.label === title && tab.input instanceof vscode.TabInputTextDiff && tab.input;
    });
    const sides = await Promise.all(
      [input.original, input.modified].map((uri) => vscode.workspace.openTextDocument(uri)),
    );
    return sides.map((side) => side.getText().trim());
  };
  const command = (name: string, ...words: readonly unknown[]) => vscode.commands.executeCommand(name, ...words);

  test('a diff with the one before, the standing one, the final one and the workspace', async () => {
    await until('the run to be shown', async () => {
      await command('hma.diffPrevious', 'e2');
      return vscode.window.tabGroups.activeTabGroup.activeTab?.label === 'e1 ↔ e2: candidate.txt';
    });
    assert.deepEqual(await shown('e1 ↔ e2: candidate.txt'), ['1', '3']);
    await command('hma.diffStanding', 'e1');
    assert.deepEqual(await shown('e1 ↔ e3: candidate.txt'), ['1', '2']);
    await command('hma.diffSelected', 'e1');
    assert.deepEqual(await shown('e1 ↔ e2: candidate.txt'), ['1', '3']);
    writeFileSync(join(folder, 'candidate.txt'), '7\n');
    await command('hma.diffWorkspace', 'e3');
    assert.deepEqual(await shown('e3 ↔ workspace: candidate.txt'), ['2', '7']);
  });

  test('a candidate’s file is opened from the archive, and can’t be written', async () => {
    await command('hma.showFiles', 'e2');
    const editor = await until('the file of e2', () => {
      const active = vscode.window.activeTextEditor;
      return active?.document.uri.scheme === 'hma-archive' && active;
    });
    assert.equal(editor.document.getText().trim(), '3');
    await assert.rejects(Promise.resolve(vscode.workspace.fs.writeFile(editor.document.uri, Buffer.from('9'))));
    assert.ok(!existsSync(join(folder, 'e2')));
  });

  test('candidates of the run that the shown one goes on from are its own: files, diffs, and what came before the first', async function () {
    this.timeout(120_000);
    const second = run({ default: [{ submit: '5' }] }, {}, 1, '--from', first);
    await until('the second run to be shown', async () => {
      await command('hma.diffPrevious', 'e4');
      return vscode.window.tabGroups.activeTabGroup.activeTab?.label === 'e3 ↔ e4: candidate.txt';
    });
    assert.deepEqual(await shown('e3 ↔ e4: candidate.txt'), ['2', '5']);
    await command('hma.showFiles', 'e2');
    const editor = await until('the file of e2', () => {
      const active = vscode.window.activeTextEditor;
      return active?.document.uri.authority === `e2.${second}` && active;
    });
    assert.equal(editor.document.getText().trim(), '3');
    const commands = await vscode.commands.getCommands(true);
    assert.ok(commands.includes('hma.goOn'));
  });
});
