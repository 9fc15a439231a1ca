import { readFileSync } from 'node:fs';

import { identify, isAlive } from '../machines/processes.ts';
import { spawnKeeper } from './launch.ts';
import type { KeeperRecord } from './keeperProtocol.ts';
import type { Room } from './room.ts';

/** How often a controller looks whether its keeper lives, ms. */
const lookMs = 10_000;

/** A keeper that dies is replaced by one that adopts this controller: each of the two brings the other back. */
export function startKeeperWatch(room: Room): Disposable {
  const timer = setInterval(() => {
    if (keeperLives(room.files.keeper)) return;
    room.log('the keeper is gone: starting another one');
    spawnKeeper({
      runtime: room.runtime,
      runFolder: room.folder,
      env: room.env,
      adopt: identify(process.pid) ?? undefined,
    });
  }, lookMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function keeperLives(file: string): boolean {
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as KeeperRecord;
    return record.state === 'keeping' && isAlive({ pid: record.pid, start: record.start });
  } catch {
    return false;
  }
}
