import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import * as vscode from 'vscode';
import * as z from 'zod';

import { readJson } from '../base/files.ts';
import { runFiles, stateHome } from '../ledger/places.ts';
import { describeTier } from '../machines/describeTier.ts';
import { freeBytes } from '../machines/disk.ts';
import { listGpus, type Gpu } from '../machines/gpus.ts';
import { loadContract } from '../task/load.ts';
import type { Contract } from '../task/model.ts';
import { hasContract } from './folder.ts';
import { bundles, hmaEnvironment } from './hmaCommand.ts';
import type { WindowRoom } from './room.ts';
import { RowTree } from './rowTree.ts';
import type { TreeRow } from './treeRow.ts';
import { mdText } from './treeRow.ts';
import { workspaceRows, type ShownContract, type ShownOwner } from './workspaceTreeRows.ts';

/** How often GPUs and the disk are looked at while the view is visible, ms. */
const lookMs = 10_000;

const ownerSchema = z.object({ run: z.string(), host: z.string(), pid: z.number(), released: z.number().optional() });
const frozenSchema = z.object({ evaluate: z.object({ command: z.array(z.string()) }) });

/** The view "Workspace": agents, evaluator, isolation, owner, GPUs, disk. It looks at the machine only while it is visible. */
export function registerWorkspaceTree(room: WindowRoom): vscode.Disposable {
  const workspace = new WorkspaceTree(room);
  return workspace;
}

class WorkspaceTree implements vscode.Disposable {
  readonly #room: WindowRoom;
  readonly #tree: RowTree;
  readonly #view: vscode.TreeView<unknown>;
  readonly #parts: vscode.Disposable;
  #timer: NodeJS.Timeout | null = null;
  #gpus: readonly Gpu[] | null = null;
  #written: Contract | null = null;
  #compared: { readonly version: string; readonly other: boolean } | null = null;
  #frozen: { readonly run: string; readonly evaluate: readonly string[] } | null = null;

  constructor(room: WindowRoom) {
    this.#room = room;
    this.#tree = new RowTree((row) => this.#tooltip(row));
    this.#view = vscode.window.createTreeView('hma.workspace', { treeDataProvider: this.#tree });
    const contract = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(room.folder, 'hma.yaml'));
    const again = (): void => void this.#look();
    this.#parts = vscode.Disposable.from(
      this.#tree,
      this.#view,
      contract,
      ...[contract.onDidChange(again), contract.onDidCreate(again), contract.onDidDelete(again)],
      this.#view.onDidChangeVisibility(() => this.#wake()),
      room.model.onDidChange(() => this.#draw()),
    );
    this.#wake();
  }

  #wake(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = this.#view.visible ? setInterval(() => void this.#look(), lookMs) : null;
    if (this.#view.visible) void this.#look();
  }

  async #look(): Promise<void> {
    if (!this.#view.visible) return;
    const { folder } = this.#room;
    const loaded = hasContract(folder) ? await loadContract({ workspace: folder, given: { wall: Date.now() } }) : null;
    this.#written = loaded?.ok ? loaded.value.contract : null;
    this.#draw();
    this.#gpus = await listGpus();
    this.#draw();
  }

  #draw(): void {
    if (!this.#view.visible) return;
    const { folder, model } = this.#room;
    const { state, place, presence } = model;
    const tier = state?.isolation.tier;
    this.#tree.update(
      workspaceRows({
        ...{ state, contract: this.#contract(), owner: ownerOf(folder), live: presence === 'live', gpus: this.#gpus },
        otherVersion: this.#otherVersion(),
        free: freeOf(folder),
        floor: state?.terms.limits.diskFloorBytes ?? this.#written?.limits.diskFloorBytes ?? null,
        stateFolder: place?.home ?? stateHome(hmaEnvironment(), this.#written?.state ?? null),
        cannot: state?.isolation.cannot.length ? state.isolation.cannot : tier ? describeTier(tier).cannot : [],
      }),
    );
  }

  /** A run keeps the programs that it began with when the extension is upgraded. */
  #otherVersion(): string | null {
    const { state, place } = this.#room.model;
    const version = state?.controller.version ?? '';
    if (!place || version === '' || state?.phase === 'finished') return null;
    if (this.#compared?.version !== version) {
      const theirs = join(place.home, 'runtime', version, 'controller.js');
      this.#compared = { version, other: !sameFile(theirs, join(bundles, 'controller.js')) };
    }
    return this.#compared.other ? version : null;
  }

  /** The run's own contract while one is shown: what hma.yaml says now counts for the next run. */
  #contract(): ShownContract | null {
    const { state, place } = this.#room.model;
    if (!state || !place) return this.#written && ofContract(this.#written);
    if (this.#frozen?.run !== place.run) {
      const read = readJson(runFiles(place.folder).contract);
      const known = read.ok ? frozenSchema.safeParse(read.value) : undefined;
      this.#frozen = { run: place.run, evaluate: known?.success ? known.data.evaluate.command : [] };
    }
    const { agents, policy, feedback } = state.terms;
    return {
      agents,
      mode: policy.mode,
      first: policy.first,
      evaluate: this.#frozen.evaluate,
      feedback,
      tier: state.isolation.tier,
    };
  }

  #tooltip({ context, description }: TreeRow): string {
    const tier = this.#room.model.state?.isolation.tier;
    if (context !== 'isolation' || !tier) return mdText(description);
    const { promises } = describeTier(tier);
    return [
      `**${mdText(tier)} promises**`,
      ...promises.map((text) => `- ${mdText(text)}`),
      '',
      '**What it can’t promise** is listed below the row.',
    ].join('\n');
  }

  dispose(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#parts.dispose();
  }
}

const ofContract = ({ agents, policy, evaluate, feedback, isolation }: Contract): ShownContract => ({
  ...{ agents, mode: policy.mode, first: policy.first, evaluate: evaluate.command, feedback, tier: isolation.tier },
});

/** The lease lies in a folder that agents write: it is read without following links, and only shown. */
function ownerOf(folder: string): ShownOwner | null {
  const read = readJson(join(folder, '.hma', 'owner.json'), { followLinks: false });
  const known = read.ok ? ownerSchema.safeParse(read.value) : undefined;
  if (!known?.success) return null;
  const { run, host, pid, released } = known.data;
  return { run, host, pid, released: released !== undefined };
}

/** Whether two files hold the same; true where one can't be read. */
function sameFile(one: string, another: string): boolean {
  try {
    return readFileSync(one).equals(readFileSync(another));
  } catch {
    return true;
  }
}

function freeOf(folder: string): number | null {
  try {
    return freeBytes(folder);
  } catch {
    return null; // the folder is gone; the row goes with it
  }
}
