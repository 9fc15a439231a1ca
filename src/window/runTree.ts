import * as vscode from 'vscode';

import { readOffline } from '../client/readRun.ts';
import { sayLength } from '../base/numbers.ts';
import type { WindowRoom } from './room.ts';
import { RowTree } from './rowTree.ts';
import { PriceCache } from './priceCache.ts';
import { pastRunOf, runRows, runScene, type PastRun, type RunScene } from './runRows.ts';
import { runTooltip } from './runRowsTooltips.ts';
import { needsPerson, presenceWords, sayPhase, timeLeft } from './runWords.ts';
import { Ticker } from './ticker.ts';
import { mdText, type TreeRow } from './treeRow.ts';

/** The view "Run": the run with its options, experiments, handoffs and final review, as they happen. */
export function registerRunTree(room: WindowRoom): vscode.Disposable {
  const { model } = room;
  let runs: readonly PastRun[] = [];
  let scene: RunScene | null = null;
  const prices = new PriceCache();
  const tree = new RowTree((row) => tooltipOf(room, scene, row));
  const view = vscode.window.createTreeView('hma.run', { treeDataProvider: tree, showCollapseAll: true });

  const lookAtRuns = (): void => {
    runs = model.runs().map(({ run }) => ({ run, shown: run === model.place?.run }));
  };
  const draw = (): void => {
    scene = model.state && runScene(model.state, model.given(), prices.of(model.place?.home));
    tree.update(runRows(model.place && { run: model.place.run, scene }, runs));
    drawFrame(view, room, runs[0]?.run);
    ticker.want(view.visible && model.presence === 'live' && model.state?.clock.running === true);
  };
  const ticker = new Ticker(draw);
  lookAtRuns();
  draw();
  return vscode.Disposable.from(
    tree,
    view,
    ticker,
    view.onDidChangeVisibility(draw),
    model.onDidChange(({ events }) => {
      if (events.length === 0) lookAtRuns();
      draw();
    }),
  );
}

/** What stands around the rows: time left, words about the controller, the number of things that wait for a person. */
function drawFrame(view: vscode.TreeView<unknown>, { model }: WindowRoom, newest: string | undefined): void {
  const { state, presence, place } = model;
  const left = state && presence !== 'lost' ? timeLeft(state, model.given()) : null;
  set(
    view,
    'description',
    left === null ? undefined : `${sayLength(Math.floor(left / 1000) * 1000).replace(/\.\d+ s/, ' s')} left`,
  );
  const earlier = place && newest !== place.run ? earlierWords : '';
  set(view, 'message', presenceWords(state, model) || earlier || undefined);
  const waiting = needsPerson(state, presence);
  if ((view.badge !== undefined) === waiting) return;
  view.badge = waiting ? { value: 1, tooltip: 'The run waits for a person' } : undefined;
}

/** What is said over a run that isn't the folder's newest. */
const earlierWords = 'This is an earlier run. The newest one is in All Runs, at the end of this list.';

/** Sets a view's words only where they differ: each set is a message to the window. */
function set(view: vscode.TreeView<unknown>, what: 'description' | 'message', words: string | undefined): void {
  if (view[what] === words) return;
  if (what === 'message') view.message = words as string;
  else view.description = words as string;
}

function tooltipOf({ model }: WindowRoom, scene: RunScene | null, row: TreeRow): string {
  const past = pastRunOf(row.id);
  if (past !== undefined) return pastStory(model, past);
  return scene ? runTooltip(scene, row) : '';
}

/** How another run of the folder ended: its ledger is read when somebody asks. */
function pastStory(model: WindowRoom['model'], run: string): string {
  const place = model.runs().find((one) => one.run === run);
  const read = place && readOffline(place);
  if (!read?.ok) return 'Its ledger can’t be read.';
  const { state } = read.value;
  const { options, archive } = state;
  const final = state.selections.at(-1)?.candidate;
  const parts = [
    sayPhase(state),
    `${options.length} options`,
    `${archive.length} candidates`,
    ...(final ? [`final ${final}`] : []),
  ];
  return `**${mdText(state.terms.name)}** ${mdText(parts.join(', '))}`;
}
