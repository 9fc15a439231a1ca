import { createWriteStream, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';

import { expect, onTestFinished, test } from 'vitest';

import { systemClock } from '../../src/base/clock.ts';
import type { Desk } from '../../src/cli/desk.ts';
import { exitCodes } from '../../src/cli/exitCodes.ts';
import { runCli } from '../../src/cli/program.ts';
import { systemFailure } from '../../src/client/systemFailure.ts';

test.each([['list', '--json'], ['list']])(
  'an answer that finds no room on a full disk is a failure: %j %j',
  async (...words) => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'hma-output-')));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const [stdout, stderr] = [createWriteStream('/dev/full'), new PassThrough()];
    const env = { HMA_HOME: join(cwd, 'state') };
    const desk = { cwd, env, clock: systemClock, stdin: new PassThrough(), stdout, stderr } as unknown as Desk;
    expect(
      await runCli(
        desk,
        words.filter((word) => word !== undefined),
      ),
    ).toBe(exitCodes.failed);
    stderr.end();
    expect(await text(stderr)).toContain('the output can’t be written: no space is left');
  },
);

test('a system’s error that names no file is told all the same; another one without a file is a bug', () => {
  const error = (code: string) => Object.assign(new Error(code), { code });
  expect(systemFailure(error('ENOSPC'))).toMatchObject({ code: 'enospc', what: expect.stringContaining('no space') });
  expect(systemFailure(error('EMFILE'))).toMatchObject({ fix: expect.stringContaining('ulimit -n') });
  expect(systemFailure(error('ENOENT'))).toBeUndefined();
});
