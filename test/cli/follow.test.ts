import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { writeJsonAtomic } from '../../src/base/files.ts';
import { follow, type FollowEnd } from '../../src/client/follow.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { identify } from '../../src/machines/processes.ts';
import { history, opened, optionFacts } from './history.ts';
import { createLedger } from './ledgerOnDisk.ts';

/** Follows a run without a controller whose keeper left this record; undefined where it is still waited for after the first look. */
async function followed(keeper: object): Promise<FollowEnd | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'hma-follow-'));
  const leaving = new AbortController();
  try {
    createLedger(folder, history([0, opened()], optionFacts.open(1, 1, 'A')));
    writeJsonAtomic(runFiles(folder).keeper, keeper);
    const waits = Promise.withResolvers<undefined>();
    const { signal } = leaving;
    const onPresence = (): void => waits.resolve(undefined);
    const place = { run: 'r', folder, home: folder, workspace: null };
    return await Promise.race([follow(place, { signal, onEvent: () => undefined, onPresence }).end, waits.promise]);
  } finally {
    leaving.abort();
    rmSync(folder, { recursive: true, force: true });
  }
}

const me = identify(process.pid);

test('a controller is waited for while its keeper lives', async () => {
  expect(await followed({ state: 'keeping', ...me, controller: 1 })).toBeUndefined();
});

test('a run whose keeper is gone too is lost at once, and says so', async () => {
  const why = 'it and its keeper are gone: killed, or the machine went down';
  expect(await followed({ state: 'keeping', ...me, start: '1', controller: 1 })).toMatchObject({ how: 'lost', why });
});

test('a keeper that gave up says why', async () => {
  const end = await followed({ state: 'gave_up', deaths: 5, why: 'it died 5 times', wall: 0 });
  expect(end).toMatchObject({ how: 'lost', why: 'the keeper gave up: it died 5 times' });
});
