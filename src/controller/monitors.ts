import { existsSync, writeFileSync } from 'node:fs';

import { errorCode } from '../base/files.ts';
import { undecided } from '../experiments/decide.ts';
import { treeActivity } from '../machines/treeActivity.ts';
import { latestAttempt } from '../options/evolve.ts';
import { ClockWatch } from './clockWatch.ts';
import { livingSession } from './controller.ts';
import { DiskWatch } from './diskWatch.ts';
import type { Lease } from './lease.ts';
import { endProgram } from './programs.ts';
import type { Room } from './room.ts';
import { SessionFolder } from './sessionFolders.ts';
import { adapterOf, promptOf, sessionOf, treeOf } from './sessions.ts';

/** How often the controller tells that it lives, ms: what an absence is measured by. */
export const heartbeatMs = 5000;
/** How often disk and lease are looked at, ms. */
const careMs = 30_000;
/** A session that has said nothing for so long after a question waits for its answer, ms. */
const promptSeenMs = 60_000;
/** So long after it, it is ended as stalled: nobody will answer, and the night is short, ms. */
const promptEndMs = 2 * 60_000;

/** The slow looks at the world that no event tells of: heartbeat, clocks, disk, lease, stalls. Each is cheap; none is faster than a second. */
export function startMonitors(room: Room, lease: Lease, onLeaseLost: () => void): Disposable {
  const clocks = new ClockWatch(room.clock);
  const disks = new DiskWatch(room);
  const beat = (): void => {
    // A stopped owner that was taken over and goes on must not act as if it still lived.
    if (!lease.confirmFence()) return onLeaseLost();
    if (room.recorder.state.pause?.reason === 'disk_low') look();
    if (room.recorder.state.phase !== 'finished') room.recorder.append(clocks.look());
    const now = room.clock.now();
    try {
      writeFileSync(room.files.alive, JSON.stringify({ ...now, pid: process.pid }), { mode: 0o600 });
    } catch {
      // a full disk: the ledger's own stamps serve instead
    }
  };
  const care = (): void => {
    const lies = lease.repair();
    if (lies.kind === 'lost') return onLeaseLost();
    if (lies.kind === 'unwritable') disks.met(lies, 'workspace');
    look();
  };
  const look = (): void => {
    try {
      if (isWorkspaceThere(room)) disks.look();
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
      room.log(`disks: ${String(error)}`); // a folder that can't be written for another reason: looked at again
    }
  };
  beat();
  look();
  disks.start();
  const stall = new StallWatch(room);
  const timers = [
    setInterval(beat, heartbeatMs),
    setInterval(care, careMs),
    setInterval(() => void stall.look(), stall.everyMs),
  ];
  return {
    [Symbol.dispose]() {
      for (const timer of timers) clearInterval(timer);
      disks[Symbol.dispose]();
    },
  };
}

/** Pauses where it isn't: unmounted, or moved away. */
function isWorkspaceThere({ workspace, recorder }: Room): boolean {
  if (existsSync(workspace)) return true;
  const { pause, phase } = recorder.state;
  const detail = `the workspace ${workspace} is not there; mount or restore it, then resume`;
  if (pause === null && phase !== 'finished')
    recorder.append([{ type: 'run.paused', data: { reason: 'workspace_gone', detail, by: 'hma' } }]);
  return false;
}

/**
 * Stalls: no output, no CPU beyond 1 % of a core and no busy GPU in the whole tree for `stallMs`, while nothing of the session is
 * being evaluated and the run isn't paused. The attempt is then ended; the failure policy says what follows.
 */
class StallWatch {
  readonly #room: Room;
  readonly everyMs: number;
  #seen: { nonce: string; cpuMs: number; outputBytes: number; at: number; quietSince: number } | null = null;
  #looking = false;
  #prompted: string | null = null;

  constructor(room: Room) {
    this.#room = room;
    this.everyMs = Math.min(15_000, Math.max(1000, Math.floor(room.contract.stallMs / 8)));
  }

  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      await this.#look();
    } catch (error) {
      this.#room.log(`stall watch: ${String(error)}`);
    } finally {
      this.#looking = false;
    }
  }

  async #look(): Promise<void> {
    const { recorder, contract, files } = this.#room;
    const living = livingSession(recorder.state);
    if (!living || recorder.state.pause || undecided(recorder.state).length > 0) {
      this.#seen = null;
      return;
    }
    const session = sessionOf(this.#room, living.name);
    const attempt = session && latestAttempt(session);
    const dir = new SessionFolder(files.sessions, living.name).attempt(living.attempt);
    if (attempt?.state === 'running' && attempt.ending)
      return await this.#end(dir, living.nonce, session ? adapterOf(this.#room, session).graceMs : 0);
    const tree = treeOf(this.#room, living.name);
    if (!tree) return;
    const activity = await treeActivity(tree, dir);
    const now = performance.now();
    const before = this.#seen?.nonce === living.nonce ? this.#seen : null;
    const quiet =
      before !== null &&
      activity.outputBytes === before.outputBytes &&
      activity.cpuMs - before.cpuMs <= (now - before.at) * 0.01 &&
      activity.gpuBusy !== true;
    const quietSince = quiet ? before.quietSince : now;
    this.#seen = { nonce: living.nonce, cpuMs: activity.cpuMs, outputBytes: activity.outputBytes, at: now, quietSince };
    const silent = now - quietSince;
    const asked = silent >= Math.min(promptSeenMs, contract.stallMs) ? promptOf(dir) : null;
    if (asked !== null) this.#tellPrompt(living.nonce, asked);
    if (silent < (asked === null ? contract.stallMs : Math.min(promptEndMs, contract.stallMs))) return;
    this.#seen = null;
    recorder.append([
      { type: 'attempt.ending', data: { session: living.name, attempt: living.attempt, reason: 'stall' } },
    ]);
    await this.#end(dir, living.nonce, session ? adapterOf(this.#room, session).graceMs : 0);
  }

  /** A question that nobody can answer is shown at once, and once. */
  #tellPrompt(nonce: string, asked: string): void {
    if (this.#prompted === nonce) return;
    this.#prompted = nonce;
    const text = `the session waits for an answer that nobody can give it: ${asked}; it is ended as stalled. See permissions in hma.yaml`;
    this.#room.recorder.append([{ type: 'run.noticed', data: { level: 'person', code: 'permission_prompt', text } }]);
  }

  async #end(dir: string, nonce: string, graceMs: number): Promise<void> {
    await endProgram({ dir, nonce, tier: this.#room.isolation.tier, graceMs });
  }
}
