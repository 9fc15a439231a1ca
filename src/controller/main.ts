import { appendFileSync, existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { processClock } from '../base/clock.ts';
import { writeJsonAtomic } from '../base/files.ts';
import { FenceLost } from '../ledger/openLedger.ts';
import type { LedgerEvent } from '../ledger/port.ts';
import { forgetUid, releaseFolder } from '../machines/uidAccess.ts';
import { releaseUids } from '../machines/uidTier.ts';
import { boot, type BootRefusal } from './boot.ts';
import { Controller } from './controller.ts';
import { roomToStart } from './disks.ts';
import { crashAt } from './crashPoints.ts';
import { forgetDecided } from './evaluations.ts';
import { Gate } from './gate.ts';
import { runFiles } from '../ledger/places.ts';
import { controllerExit } from './keeperProtocol.ts';
import { startKeeperWatch } from './keeperWatch.ts';
import { writeListing } from './materials.ts';
import { startModelWatch } from './modelWatch.ts';
import { startMonitors } from './monitors.ts';
import { notificationFor, notify } from './notifier.ts';
import { protocolVersion, type Endpoint } from '../protocol/client.ts';
import { giveMemoryBackSoon } from './memory.ts';
import type { Room } from './room.ts';
import { serveAgents, serveClients } from './servers.ts';

/** How long a controller whose run is finished stays for clients that may come, ms. */
const idleMs = 1500;
/** How long it stays for clients that don't leave: a window that stays open must not keep the next run out, ms. */
const longestIdleMs = 30_000;

/** `controller RUN_FOLDER [--take-over]`: one run's single writer, from boot to the run's end. */
async function main(args: readonly string[]): Promise<void> {
  const folder = resolve(args[0] ?? '.');
  const files = runFiles(folder);
  const log = (line: string): void => {
    try {
      appendFileSync(files.log, `${new Date().toISOString()} ${process.pid} ${line}\n`);
    } catch {
      // a full disk must not end the controller: what counts is in the ledger
    }
  };
  const shut = (error: Error): never => {
    log(`died: ${error.stack ?? error.message}`);
    process.exit(error instanceof FenceLost ? controllerExit.refused : controllerExit.died);
  };
  process.on('uncaughtException', shut);
  const launch = process.env['HMA_LAUNCH'] ?? '';
  const tell = (answer: { ok: true } | ({ ok: false } & BootRefusal)): void =>
    void (launch === '' || existsSync(files.boot(launch)) || writeJsonAtomic(files.boot(launch), answer));
  // whoever waits for this start is told at once that there is no room; a keeper's restart waits for it
  if (launch === '' || existsSync(files.boot(launch))) await untilRoom(folder, log);
  let wake = (): void => undefined;
  const booted = await boot({
    folder,
    files,
    clock: processClock(),
    env: process.env,
    takeOver: args.includes('--take-over'),
    log,
    wake: () => wake(),
    shut,
  });
  if (!booted.ok) {
    log(`refused: ${booted.refusal.reason}: ${booted.refusal.text}`);
    tell({ ok: false, ...booted.refusal });
    process.exit(controllerExit.refused);
  }
  const { room, lease, clientSocket } = booted.value;
  const { recorder } = room;
  giveMemoryBackSoon();
  const gate = new Gate(room);
  let clients = 0;
  const leave = async (code: number): Promise<void> => {
    if (code === controllerExit.finished) await giveBackUsers(room);
    lease.release();
    recorder.close();
    process.exit(code);
  };
  let idle: NodeJS.Timeout | undefined;
  let asked = 0;
  // whoever has just asked may ask again: a select right after the end must not meet a controller on its way out
  let heardAt = -Infinity;
  // one timer that runs its time: whoever only knocks (a next run that waits for the workspace) must not put the leaving off
  const leaveWhenIdle = (): void => {
    idle ??= setTimeout(() => {
      idle = undefined;
      if (recorder.state.phase !== 'finished') return;
      if (recorder.state.errands.length > 0) return void (asked = 0); // idle again when they are done
      asked += idleMs;
      const quiet = performance.now() - heardAt >= idleMs;
      if ((clients === 0 && quiet) || asked >= longestIdleMs) void leave(controllerExit.finished);
      else leaveWhenIdle();
    }, idleMs);
  };
  const controller = new Controller(room, leaveWhenIdle);
  wake = () => controller.wake();
  await serveAgents(room.agentSocket, gate);
  await serveClients(clientSocket, room, (count, heard) => {
    clients = count;
    if (heard) heardAt = performance.now();
    if (count === 0 && recorder.state.phase === 'finished') leaveWhenIdle();
  });
  crashAt('sockets.open');
  const endpoint: Endpoint = {
    protocol: protocolVersion,
    version: room.runtime.version,
    pid: process.pid,
    fence: lease.fence,
    clientSocket,
    agentSocket: room.agentSocket,
  };
  writeJsonAtomic(files.endpoint, endpoint);
  crashAt('endpoint.written');
  tell({ ok: true });
  recorder.subscribe((events) => tellOutside(events));
  writeListing(room);
  forgetDecided(room).catch((error: unknown) => log(`left-over checkouts: ${String(error)}`));
  startMonitors(room, lease, () => {
    log('the lease is lost: another controller owns this run');
    process.exit(controllerExit.refused);
  });
  startModelWatch(room);
  startKeeperWatch(room);
  process.on('SIGTERM', () => {
    controller.close();
    void leave(controllerExit.asked);
  });
  tryNotifying();
  controller.wake();

  /** A notification that does not arrive is found out in the evening, not at the first need. */
  function tryNotifying(): void {
    const { state } = recorder;
    if (state.controller.starts !== 1 || room.contract.notify.kind === 'none') return;
    const notification = {
      kind: 'started',
      run: state.run,
      workspace: state.workspace,
      text: `${state.terms.name} has started`,
      wall: Date.now(),
    } as const;
    void notify(room.contract.notify, notification).then((failure) => {
      if (failure !== null)
        recorder.append([
          {
            type: 'run.noticed',
            data: { level: 'warning', code: 'notify_failed', text: `notifications do not arrive: ${failure}` },
          },
        ]);
    });
  }

  function tellOutside(events: readonly LedgerEvent[]): void {
    if (events.some(({ type }) => type === 'experiment.accepted')) writeListing(room);
    for (const event of events) {
      const notification = notificationFor(event, recorder.state);
      if (!notification) continue;
      void notify(room.contract.notify, notification).then(
        (failure) => failure && log(`notify ${notification.kind}: ${failure}`),
      );
    }
  }
}

/** How often a controller that finds no room even for its start looks again, ms. */
const roomLookMs = 5000;

/** A controller that can't write a line waits: it would only die, again and again, until its keeper gave up. */
async function untilRoom(folder: string, log: (line: string) => void): Promise<void> {
  for (let told = false; roomToStart(folder) !== null; told = true) {
    if (!told) log('waits: there is no room to write in the state folder');
    await new Promise((done) => setTimeout(done, roomLookMs));
  }
}

/** Tier `uid`, at the run's end: the workspace is wholly its owner's again, and the user ids are free. */
async function giveBackUsers(room: Room): Promise<void> {
  const { tier, sessionUid, reviewUid, evaluationUid } = room.isolation;
  if (tier !== 'uid') return;
  const passed = [
    room.folder,
    room.runtime.folder,
    ...room.hidden,
    ...room.contract.isolation.readable,
    ...(room.env['HOME'] ? [room.env['HOME']] : []),
  ];
  for (const uid of [sessionUid, reviewUid, evaluationUid]) {
    if (uid === undefined) continue;
    await releaseFolder(room.workspace, uid);
    await forgetUid(uid, passed);
  }
  releaseUids(room.recorder.state.run);
}

await main(process.argv.slice(2));
