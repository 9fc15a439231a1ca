import assert from 'node:assert/strict';
import { suite, test } from 'mocha';
import * as vscode from 'vscode';

suite('activation', () => {
  const extension = () => {
    const found = vscode.extensions.getExtension('hma.hma');
    assert.ok(found, 'VS Code does not know the extension hma.hma');
    return found;
  };

  test('the extension is known, and starts without an error', async () => {
    await extension().activate();
    assert.equal(extension().isActive, true);
  });

  test('every command that package.json promises is registered', async () => {
    await extension().activate();
    const contributes = extension().packageJSON as { contributes?: { commands?: { command: string }[] } };
    const promised = (contributes.contributes?.commands ?? []).map((each) => each.command);
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.ok(promised.length > 0, 'package.json contributes no command');
    assert.deepEqual(
      promised.filter((command) => !registered.has(command)),
      [],
    );
  });

  test('the state folder of the test reaches the extension host', () => {
    assert.match(process.env['HMA_HOME'] ?? '', /hma-editor-/);
  });
});
