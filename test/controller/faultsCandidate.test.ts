import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { runFiles } from '../../src/ledger/places.ts';
import { eventsOf } from '../rig/run.ts';
import { holding, startFaultRun } from '../rig/faultRun.ts';

const evaluator = `cat "$HMA_CANDIDATE/model/"* >&2; echo '{"score": 1}' > "$HMA_RESULT"\n`;

describe('a candidate that is none', () => {
  it('is refused with its path and what to do, is never read through a link, and a folder is fine', async () => {
    await using run = await startFaultRun(
      {
        ...holding,
        contract: {
          policy: { cap: 'none' },
          candidate: ['model'],
          evaluate: ['sh', 'folder.sh'],
          limits: { diskFloor: '1MB', candidateFiles: 3 },
        },
      },
      { before: ({ workspace }) => writeFileSync(join(workspace, 'folder.sh'), evaluator) },
    );
    await run.open(1);
    const model = join(run.folders.workspace, 'model');
    const submit = () => run.submit(1, 'ignored');
    const invalid = (reason: RegExp) => ({
      outcome: 'rejected',
      code: 'invalid',
      reason: expect.stringMatching(reason),
    });
    expect(await submit()).toMatchObject(invalid(/Nothing in the workspace matches "model"\. Create it/));
    execFileSync('mkfifo', [model]);
    expect(await submit()).toMatchObject(invalid(/model is a FIFO, socket or device.*Remove it or leave it out/));
    rmSync(model);
    execFileSync('mknod', [model, 'c', '1', '3']);
    expect(await submit()).toMatchObject(invalid(/model is a FIFO, socket or device/));
    rmSync(model);
    mkdirSync(model);
    for (const name of ['a', 'b', 'c', 'd']) writeFileSync(join(model, name), name);
    expect(await submit()).toMatchObject({
      code: 'too_large',
      reason: expect.stringContaining('more than the limit of 3 files'),
    });
    for (const name of ['b', 'c', 'd']) rmSync(join(model, name));
    expect(await submit()).toMatchObject({ id: 'e5', outcome: 'accepted', score: 1 });
    // a link is kept as a link: what it leads to is no part of the candidate
    writeFileSync(join(run.folders.root, 'secret'), 'the secret outside');
    symlinkSync('../../secret', join(model, 'way-out'));
    expect(await submit()).toMatchObject({ id: 'e6', outcome: 'accepted' });
    const got = await run.hma(1, 'archive', 'get', 'e6', 'model/way-out', '--json');
    expect(JSON.parse(got.out)).toMatchObject({ kind: 'link', base64: Buffer.from('../../secret').toString('base64') });
    const outputs = readdirSync(runFiles(run.runFolder).evaluations).map((name) =>
      readFileSync(join(runFiles(run.runFolder).evaluations, name, 'runner', 'output.log'), 'utf8'),
    );
    expect(outputs.join('')).not.toContain('secret');
    expect(run.client.state?.archive.map(({ id }) => id)).toEqual(['e5', 'e6']);
  });

  it('behind a linked folder is outside of the workspace', async () => {
    await using run = await startFaultRun(
      { ...holding, contract: { policy: { cap: 'none' }, candidate: ['deep/model.txt'] } },
      {
        prepare: ({ workspace, root }) => (
          mkdirSync(join(root, 'elsewhere')),
          writeFileSync(join(root, 'elsewhere', 'model.txt'), '7'),
          symlinkSync('../elsewhere', join(workspace, 'deep'))
        ),
      },
    );
    await run.open(1);
    expect(await run.submit(1, 'x')).toMatchObject({
      code: 'invalid',
      reason: expect.stringMatching(
        /^"deep" is a symbolic link, so what lies behind it may be outside the workspace. Name the real path/,
      ),
    });
  });
});

describe('a session that changes what is not its own', () => {
  it('a protected file: refused, the original can be had, and it is put back at the handoff', async () => {
    await using run = await startFaultRun(holding);
    await run.open(1);
    const evaluate = join(run.folders.workspace, 'evaluate.sh');
    const original = readFileSync(evaluate, 'utf8');
    writeFileSync(evaluate, 'echo \'{"score": 1000}\' > "$HMA_RESULT"');
    expect(await run.submit(1, '5')).toMatchObject({
      code: 'tampered',
      reason: 'protected files were changed: evaluate.sh; get the original with: hma archive get protected PATH',
    });
    expect((await run.hma(1, 'archive', 'get', 'protected', 'evaluate.sh')).out).toBe(original);
    expect(run.client.state?.notices).toMatchObject([
      {
        level: 'warning',
        code: 'tampered',
        text: 'e1 by alpha was refused: protected files were changed (evaluate.sh)',
      },
    ]);
    writeFileSync(evaluate, original);
    expect(await run.submit(1, '5')).toMatchObject({ outcome: 'accepted', score: 5 });
    rmSync(evaluate);
    await run.client.intend({ kind: 'handoff', by: 'test' });
    await run.open(2);
    expect(readFileSync(evaluate, 'utf8')).toBe(original);
    expect(eventsOf(run.runFolder).find(({ type }) => type === 'option.clean')?.data).toEqual({
      option: 1,
      restored: ['evaluate.sh'],
    });
  });

  it('the folder .hma/: rebuilt, while everything goes on', async () => {
    await using run = await startFaultRun({ ...holding, contract: { policy: { cap: 1 } } });
    await run.open(1);
    const folder = join(run.folders.workspace, '.hma');
    rmSync(folder, { recursive: true });
    expect(await run.submit(1, '3')).toMatchObject({ outcome: 'accepted' });
    await run.open(2);
    expect(readFileSync(join(folder, 'archive.md'), 'utf8')).toContain('| e1 (standing) | 1 | alpha | 3 |');
    // a second run is still kept out, by the state folder and the living owner
    rmSync(folder, { recursive: true });
    process.kill(run.pids().controller, 'SIGKILL');
    await run.client.until('another controller', ({ controller }) => controller.starts === 2);
    expect(existsSync(join(folder, 'owner.json'))).toBe(true);
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('*\n');
    expect(await run.submit(2, '4')).toMatchObject({ outcome: 'accepted' });
  });
});
