import * as vscode from 'vscode';

import type { WindowRoom } from './room.ts';
import { statusWords } from './statusBarWords.ts';
import { Ticker } from './ticker.ts';
import { mdText } from './treeRow.ts';

/** The one item in the status bar; a click tells what can be done now. */
export function registerStatusBar({ model }: WindowRoom): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('hma.status', vscode.StatusBarAlignment.Left, 50);
  item.name = 'HMA';
  item.command = 'hma.menu';
  let said = '';
  const draw = (): void => {
    const { state, presence, why } = model;
    const words = statusWords(state, { given: model.given(), presence, why });
    ticker.want(presence === 'live' && state?.clock.running === true);
    if (!words) {
      said = '';
      return item.hide();
    }
    const all = `${words.text}\n${words.spoken}`;
    if (all === said) return;
    said = all;
    item.text = words.text;
    item.tooltip = new vscode.MarkdownString(mdText(words.spoken));
    item.accessibilityInformation = { label: words.spoken, role: 'button' };
    item.backgroundColor = words.warns ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    item.show();
  };
  const ticker = new Ticker(draw);
  draw();
  return vscode.Disposable.from(item, ticker, model.onDidChange(draw));
}
