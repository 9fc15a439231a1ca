import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { canMountAt } from '../../src/machines/bubblewrap.ts';
import { confine } from '../../src/machines/isolation.ts';
import type { Bind } from '../../src/machines/port.ts';
import { MachineRoom, observed, tiersHere } from './machineRoom.ts';

let room: MachineRoom;
beforeEach(() => (room = new MachineRoom()));
afterEach(() => room.close());

describe.runIf(tiersHere.includes('bubblewrap'))('absolute paths of a program in its own view', () => {
  test('are a folder to write, one to read, and an empty one of its own; the root beside them is as it was, and read-only', async () => {
    const given = join(room.base, 'given');
    mkdirSync(given);
    writeFileSync(join(given, 'file'), 'given');
    const binds: readonly Bind[] = [
      { from: room.workspace, to: '/hma-app', writable: true },
      { from: given, to: '/hma-tests/deeper', writable: false },
      { from: null, to: '/hma-logs', writable: true },
    ];
    const look = `
      cat /hma-tests/deeper/file > /hma-app/found
      { echo x > /hma-tests/deeper/file; } 2>/dev/null || echo ' read-only' >> /hma-app/found
      mkdir -p /hma-logs/a && echo 1 > /hma-logs/a/b && cat /hma-logs/a/b >> /hma-app/found
      { echo x > /made; } 2>/dev/null || echo root >> /hma-app/found
      [ -d ${room.state}/runner-1 ] || echo hidden >> /hma-app/found
      test -e /etc/passwd && test -x /bin/sh && ls / | grep -c . > /dev/null && echo system >> /hma-app/found`;
    const started = await room.start('bubblewrap', ['/bin/sh', '-c', look], { confinement: { binds } });
    await observed(started, 'ended');
    expect(room.read('found')).toBe('given read-only\n1\nroot\nhidden\nsystem\n');
    expect(canMountAt('/hma-app')).toBe(true);
  });

  test('cannot be made in a folder of the machine that lacks them, from what is not there, or in another tier', async () => {
    const refusalOf = async (tier: 'bubblewrap' | 'none', bind: Bind) => {
      const confinement = room.confinement(tier, { binds: [bind] });
      const answer = await confine({ confinement, argv: ['true'], cwd: room.workspace, scratch: room.state });
      return answer.ok ? 'made' : answer.refusal.message;
    };
    const bind = { from: room.workspace, to: '/hma-app', writable: true };
    expect(await refusalOf('bubblewrap', bind)).toBe('made');
    expect(await refusalOf('none', bind)).toContain("/hma-app can't be served by isolation none");
    expect(await refusalOf('bubblewrap', { ...bind, to: '/usr/hma-app' })).toContain(
      'it does not exist, and /usr does',
    );
    expect(await refusalOf('bubblewrap', { ...bind, from: '/no/such' })).toContain(
      '/no/such, which is to be shown at /hma-app, does',
    );
  });
});
