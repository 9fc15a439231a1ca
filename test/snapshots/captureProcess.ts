import { writeSync } from 'node:fs';
import { openSnapshots } from '../../src/snapshots/store.ts';
import type { CaptureRequest } from '../../src/snapshots/port.ts';

/*
 * One capture (or restore) in a process of its own, to be killed or traced. Argument: JSON {dir, request | restore, killAt?}.
 * Prints each crash point as a line as it is reached, then the result as JSON.
 */
const order = JSON.parse(process.argv[2] ?? '') as {
  dir: string;
  request?: CaptureRequest;
  restore?: { id: string; folder: string };
  killAt?: string;
};
const store = await openSnapshots({
  dir: order.dir,
  crashPoint: (name) => {
    writeSync(1, `${name}\n`);
    if (name === order.killAt) process.kill(process.pid, 'SIGKILL');
  },
});
const result = order.request
  ? await store.capture(order.request)
  : order.restore
    ? await store.restore(order.restore.id, order.restore.folder)
    : undefined;
writeSync(1, `${JSON.stringify(result)}\n`);
