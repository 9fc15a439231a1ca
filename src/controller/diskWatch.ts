import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { diskForecastCode, diskNews } from '../analysis/disk.ts';
import { sayDiskPlace, sayForecast } from '../analysis/diskWords.ts';
import { ballastIn, fullnessOf, releaseBallast } from '../machines/disk.ts';
import { measureFolders } from '../machines/diskUse.ts';
import type { DiskHolding, DiskSample } from '../run/disk.ts';
import {
  diskPlacesOf,
  hasRoomAgain,
  pauseAtFloor,
  pauseWhenFull,
  pauseWithoutBallast,
  type EarlierRunSize,
} from './disks.ts';
import type { Room } from './room.ts';

/** How often a run's bytes are counted: a fiftieth of its time within these, ms; never more than this share of the time is spent on it. */
const [shortestMs, longestMs, share] = [2 * 60_000, 10 * 60_000, 0.005];
/** Longest that counting may take, ms. */
const timeoutMs = 5 * 60_000;
/** How often a paused run tries to write what it needs to go on, ms. */
const tryMs = 15_000;
/** Free space, as a multiple of the floor, below which earlier runs are measured, so that a pause can name them. */
const near = 4;
/** Free space on the state folder's disk below which a paused run gives its ballast to what still has to end, bytes. */
const nothingFree = 1024 * 1024;

/**
 * The disks of a run: pauses it at the floor, lets it go on, counts what grew, and tells when the floor will be reached. What is on the
 * disks now is looked at every few seconds (`look`); what lies in the folders is counted every few minutes, by another process.
 */
export class DiskWatch implements Disposable {
  readonly #room: Room;
  readonly #subscription: Disposable;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #triedAt = -Infinity;
  #earlier: readonly EarlierRunSize[] = [];

  constructor(room: Room) {
    this.#room = room;
    this.#subscription = room.recorder.subscribe((events) => {
      if (events.some(({ type }) => type === 'run.finished')) this.look();
    });
  }

  /** Pauses at the floor, goes on when there is room again, keeps the ballast while the run lives. */
  look(): void {
    const { recorder, folder } = this.#room;
    const { pause, phase } = recorder.state;
    if (phase === 'finished') return void releaseBallast(folder);
    if (pause === null) {
      const fact =
        pauseAtFloor(this.#room, recorder.state, this.#earlier) ?? pauseWithoutBallast(this.#room, recorder.state);
      if (fact) recorder.append([fact]);
    } else if (pause.reason === 'disk_low') this.#lookPaused();
  }

  /** Pauses where something could not be written because a disk is full; anything else that went wrong with it is not the disks' matter. */
  met(what: { readonly path: string; readonly code: string }, on: DiskHolding): void {
    const { recorder } = this.#room;
    const { pause, phase } = recorder.state;
    const full = fullnessOf(
      Object.assign(new Error(what.code), what),
      on === 'workspace' ? this.#room.workspace : this.#room.folder,
    );
    if (full !== null && pause === null && phase !== 'finished')
      recorder.append([pauseWhenFull(this.#room, recorder.state, { full, what: what.path, on })]);
  }

  #lookPaused(): void {
    const { recorder, folder } = this.#room;
    const state = diskPlacesOf(this.#room).find(({ holds }) => holds.includes('state'));
    if (state && state.free < nothingFree && ballastIn(folder) > 0) releaseBallast(folder);
    if (performance.now() - this.#triedAt < tryMs) return;
    this.#triedAt = performance.now();
    if (hasRoomAgain(this.#room)) recorder.append([{ type: 'run.resumed', data: { by: 'hma' } }]);
  }

  /** Counts from now on. The first look of a run is made at once and told a little later, so that short runs have none. */
  start(): this {
    const first = this.#room.recorder.state.disk.length === 0 ? this.#count().catch(() => null) : null;
    const later = async (): Promise<void> => this.#tell((await first) ?? (await this.#count()));
    this.#after(first ? shortestMs : this.#everyMs(), later);
    return this;
  }

  #everyMs(): number {
    return Math.min(longestMs, Math.max(shortestMs, this.#room.recorder.state.budgets.totalMs / 50));
  }

  /** Counts once, tells it, and what it means for the rest of the run. */
  async measure(): Promise<void> {
    const { pause, phase } = this.#room.recorder.state;
    if (pause === null && phase !== 'finished') this.#tell(await this.#count());
  }

  /** Acts after so long, then measures for as long as the run lives: one count that fails is not the last. */
  #after(ms: number, act: () => Promise<void>): void {
    this.#timer = setTimeout(() => {
      const begun = performance.now();
      void act()
        .catch((error: unknown) => this.#room.log(`disk watch: ${String(error)}`))
        .finally(() => {
          if (this.#isOver || this.#room.recorder.state.phase === 'finished') return;
          this.#after(Math.max(this.#everyMs(), (performance.now() - begun) / share), () => this.measure());
        });
    }, ms);
  }

  async #count(): Promise<Pick<DiskSample, 'bytes' | 'places'>> {
    const { workspace, files, folder, env } = this.#room;
    const given = { timeoutMs, path: env['PATH'] ?? '/usr/bin:/bin' };
    // in this order: of a file with several names the first one counts
    const folders = [files.snapshots, files.evaluations, files.sessions, workspace];
    const [snapshots = null, evaluations = null, sessions = null, inWorkspace = null] = await measureFolders(
      folders,
      given,
    );
    const places = diskPlacesOf(this.#room);
    if (places.some(({ free, floor }) => free < floor * near)) this.#earlier = await this.#sizesOfEarlier(given);
    return { bytes: { workspace: inWorkspace, snapshots, sessions, evaluations, ledger: ledgerBytes(folder) }, places };
  }

  /** Runs of this workspace that are over don't grow: they are measured once. */
  async #sizesOfEarlier(given: { timeoutMs: number; path: string }): Promise<readonly EarlierRunSize[]> {
    const { folder } = this.#room;
    const known = new Set(this.#earlier.map(({ run }) => run));
    const names = readdirSync(dirname(folder)).filter((name) => name !== basename(folder) && !known.has(name));
    const sizes = await measureFolders(
      names.map((name) => join(dirname(folder), name)),
      given,
    );
    return [...this.#earlier, ...names.map((run, index) => ({ run, bytes: sizes[index] ?? 0 }))];
  }

  #tell(sample: Pick<DiskSample, 'bytes' | 'places'>): void {
    const { recorder } = this.#room;
    if (this.#isOver || recorder.state.phase === 'finished') return;
    recorder.append([{ type: 'run.measured', data: sample }]);
    const given = recorder.given();
    const news = diskNews(recorder.state, given);
    if (news?.kind === 'warn')
      recorder.append([
        {
          type: 'run.noticed',
          data: {
            ...{ level: 'person', code: diskForecastCode },
            text: `the disk of ${sayDiskPlace(news.forecast.place)}: ${sayForecast(news.forecast, given.active)}, before the run's end; free some space (hma gc --all, or remove earlier runs), or the run will pause then`,
          },
        },
      ]);
    else if (news?.kind === 'over')
      recorder.append([
        {
          type: 'run.noticed',
          data: {
            ...{ level: 'info', code: 'disk_forecast_over', takesBack: diskForecastCode },
            text: "at the present pace no disk reaches its floor before the run's end any more",
          },
        },
      ]);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#subscription[Symbol.dispose]();
  }
}

function ledgerBytes(folder: string): number {
  const names = readdirSync(folder).filter((name) => /^ledger-.*\.jsonl$/.test(name));
  return names.reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}
