import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:net';

import { processClock } from '../../src/base/clock.ts';
import { acquireLease, leaseCrashPoints, type Lease, type LeaseCrashPoint } from '../../src/controller/lease.ts';
import { ledgerCrashPoints, type LedgerCrashPoint } from '../../src/ledger/crashPoints.ts';
import { openLedger, type Ledger } from '../../src/ledger/openLedger.ts';

/*
 * A process that owns: forked by the lease tests, told what to do over the fork's channel, one answer per order.
 * With HMA_DIE_AT it ends itself by SIGKILL at that crash point.
 */

/** What a test may order. */
export type Order =
  | {
      readonly do: 'acquire';
      readonly workspace: string;
      readonly stateDir: string;
      readonly run: string;
      readonly socket?: string;
      readonly takeOver?: boolean;
      readonly at?: number;
    }
  | { readonly do: 'listen'; readonly socket: string }
  | { readonly do: 'open'; readonly dir: string }
  | { readonly do: 'append'; readonly type: string; readonly told?: string }
  | { readonly do: 'confirm' | 'repair' | 'release' };

let lease: Lease | undefined;
let ledger: Ledger | undefined;

const dieAt = process.env['HMA_DIE_AT'];
const crashPoint = (name: LeaseCrashPoint | LedgerCrashPoint): void => {
  if (![...leaseCrashPoints, ...ledgerCrashPoints].includes(name)) throw new Error(`unlisted crash point ${name}`);
  if (name === dieAt && !(process.env['HMA_DIE_AFTER'] !== undefined && !existsSync(process.env['HMA_DIE_AFTER'])))
    process.kill(process.pid, 'SIGKILL');
};

async function obey(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'acquire': {
      while (order.at !== undefined && Date.now() < order.at);
      const socket = order.socket ?? `${order.stateDir}/none.sock`;
      const result = await acquireLease({
        ...order,
        runId: order.run,
        sockets: { client: socket, agent: socket },
        clock: processClock(),
        crashPoint,
      });
      if (!result.ok) return { refused: result.refusal };
      lease = result.value;
      return { fence: lease.fence, turn: lease.owner.turn };
    }
    case 'listen':
      return new Promise((resolve) => createServer().listen(order.socket, () => resolve('listening')));
    case 'open': {
      const result = openLedger({
        dir: order.dir,
        fence: lease?.fence ?? 0,
        confirmFence: () => lease?.confirmFence() ?? false,
        crashPoint,
      });
      if (!result.ok) return { refused: result.refusal };
      ledger = result.value.ledger;
      return result.value.events.map(({ type }) => type);
    }
    case 'append': {
      const events = ['1', '2'].map((part) => ({ v: 1, wall: 0, mono: 0, active: 0, type: order.type, data: part }));
      const appended = ledger?.append(events).map(({ seq }) => seq);
      if (order.told !== undefined) appendFileSync(order.told, `${order.type}\n`);
      return appended;
    }
    case 'confirm':
      return lease?.confirmFence();
    case 'repair':
      return lease?.repair();
    case 'release':
      return lease?.release();
  }
}

process.on('message', (order: Order) => {
  obey(order).then(
    (answer) => process.send?.({ answer: answer ?? null }),
    (error: unknown) =>
      process.send?.({
        answer: { threw: error instanceof Error ? error.name : String(error), message: String(error) },
      }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ answer: 'ready' });
