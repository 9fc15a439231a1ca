import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { runFiles } from '../../src/ledger/places.ts';
import { startRun } from '../../src/controller/launch.ts';
import { identify, isAlive } from '../../src/machines/processes.ts';
import { loadContract } from '../../src/task/load.ts';
import { eventsOf, processesOf } from '../rig/run.ts';
import { eventually, holding, powerCut, revive, startFaultRun, wordsOf } from '../rig/faultRun.ts';
import { layOutScripts } from '../rig/crashScenario.ts';
import { testFolders } from '../rig/task.ts';

const loaded = async (workspace: string) => {
  const contract = await loadContract({ workspace, given: { wall: Date.now() } });
  if (!contract.ok) throw new Error('the contract is wrong');
  return contract.value.contract;
};

describe('two owners', () => {
  it('a second run on the folder is refused, from the same and from another state folder, and leaves nothing behind', async () => {
    await using run = await startFaultRun(holding);
    await run.open(1);
    const contract = await loaded(run.folders.workspace);
    const runsBefore = readdirSync(join(run.runFolder, '..'));
    const again = await run.person('run', '--detach');
    expect(again).toMatchObject({
      exit: 5,
      err: expect.stringMatching(new RegExp(`Run ${run.run} already works in ${run.folders.workspace} .*it answers`)),
    });
    expect(readdirSync(join(run.runFolder, '..'))).toEqual(runsBefore);
    const other = join(run.folders.root, 'other-state');
    const second = await startRun({ workspace: run.folders.workspace, contract, home: other, env: process.env });
    expect(second.ok ? 'started' : wordsOf(second.refusal)).toMatch(
      /^held: Run .* already works in .*hma resume .* --take-over/,
    );
    expect(processesOf(other)).toEqual([]);
    expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });
    // also while the owner is stopped: it can't be seen whether it will go on
    const { controller } = run.pids();
    process.kill(controller, 'SIGSTOP');
    const third = await startRun({ workspace: run.folders.workspace, contract, home: other, env: process.env });
    expect(third.ok ? 'started' : third.refusal.reason).toBe('held');
    process.kill(controller, 'SIGCONT');
    expect(await run.submit(1, '2')).toMatchObject({ outcome: 'accepted' });
  });

  it('a stopped owner is taken over by a person; continued, it exits and has written nothing that counts', async () => {
    await using run = await startFaultRun({ ...holding, contract: { policy: { cap: 'none' } } });
    await run.open(1);
    expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });
    const old = run.pids();
    const identity = identify(old.controller);
    process.kill(old.controller, 'SIGSTOP');
    expect(await revive(run)).toMatch(
      /^held: Run .* already has a controller .*If you know that it must not go on: `hma resume .* --take-over`/,
    );
    expect(await revive(run, { takeOver: true })).toBe('taken up');
    // its old connection is the stopped one's
    const answer = await run.submit(1, '2');
    expect(answer).toMatchObject({ outcome: 'accepted', id: 'e2' });
    const before = eventsOf(run.runFolder);
    process.kill(old.controller, 'SIGCONT');
    if (identity) await eventually('the old owner to exit', () => !isAlive(identity));
    expect(await run.submit(1, '3')).toMatchObject({ outcome: 'accepted', id: 'e3' });
    const after = eventsOf(run.runFolder);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(
      after.filter(({ type }) => type === 'controller.started').map(({ data }) => (data as { fence: number }).fence),
    ).toEqual([1, 2]);
    expect(run.pids().controller).not.toBe(old.controller);
    expect(processesOf(run.folders.root).filter(({ command }) => command.includes('controller.js'))).toHaveLength(1);
    expect(processesOf(run.folders.root).filter(({ command }) => command.includes('keeper.js'))).toHaveLength(1);
  });
});

describe('a folder that cannot be written', () => {
  it.skipIf(process.getuid?.() !== 0)(
    'a read-only workspace or state folder: refused in words, nothing is left',
    async () => {
      using folders = testFolders();
      await layOutScripts(folders, holding);
      const contract = await loaded(folders.workspace);
      const start = async (home: string, readOnly: string) => {
        spawnSync('mount', ['--bind', readOnly, readOnly]);
        try {
          expect(spawnSync('mount', ['-o', 'remount,ro,bind', readOnly]).status).toBe(0);
          return await startRun({ workspace: folders.workspace, contract, home, env: process.env });
        } finally {
          spawnSync('umount', ['-l', readOnly]);
        }
      };
      const first = await start(folders.home, folders.workspace);
      expect(first.ok ? 'started' : wordsOf(first.refusal)).toMatch(
        new RegExp(
          `^unwritable: HMA can't write ${folders.workspace}/\\.hma \\(.*read-only.*A run needs a workspace and a state folder that it may write`,
        ),
      );
      expect(
        readdirSync(join(folders.home, 'workspaces'), { recursive: true, encoding: 'utf8' }).filter((name) =>
          name.includes('ledger'),
        ),
      ).toEqual([]);
      const home = join(folders.root, 'readonly-state');
      mkdirSync(home);
      const second = await start(home, home);
      expect(second.ok ? 'started' : wordsOf(second.refusal)).toMatch(
        /^unwritable: the state folder .*readonly-state can't be written: .*choose another place with HMA_HOME/,
      );
      expect(processesOf(folders.root)).toEqual([]);
    },
  );

  it('a workspace that disappears: the run can be taken up again when it is back, and says so until then', async () => {
    await using run = await startFaultRun({ ...holding, contract: { policy: { cap: 'none' } } });
    await run.open(1);
    expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });
    const away = join(run.folders.root, 'away');
    renameSync(run.folders.workspace, away);
    const gone = await run.hma(1, 'submit', '--json', '--wait', '20');
    expect(gone).toMatchObject({
      exit: 2,
      out: expect.stringContaining(`"code":"invalid","reason":"The folder ${run.folders.workspace} does not exist."`),
    });
    await powerCut(run);
    expect(await revive(run)).toBe(
      `workspace: the workspace ${run.folders.workspace} is not there mount or restore it, then hma resume`,
    );
    renameSync(away, run.folders.workspace);
    expect(await revive(run)).toBe('taken up');
    expect(await run.submit(1, '2')).toMatchObject({ outcome: 'accepted', id: 'e3' });
  });
});

describe('a full disk', () => {
  it.skipIf(process.getuid?.() !== 0)(
    'pauses the run with disk_low; it goes on when space is freed, and nothing is lost',
    async () => {
      const mount = (at: string): void => {
        mkdirSync(at);
        expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=400m,mode=700', 'hma-test', at]).status).toBe(0);
      };
      const place = mkdtempSync(join(tmpdir(), 'hma-told-'));
      await using run = await startFaultRun(
        {
          ...holding,
          contract: {
            policy: { cap: 'none' },
            limits: { diskFloor: '20MB' },
            notify: ['tee', '-a', join(place, 'told')],
          },
        },
        {
          before: ({ home }) => mount(home),
          after({ home }) {
            spawnSync('umount', ['-l', home]);
            rmSync(place, { recursive: true });
          },
        },
      );
      await run.open(1);
      expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });
      await eventually(
        'the ballast',
        () => statSync(join(run.runFolder, 'ballast'), { throwIfNoEntry: false })?.size === 32 * 1024 * 1024,
      );
      const filler = join(run.folders.home, 'filler');
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1M', 'count=1000']);
      // the next submission can't be kept, which is told at once and pauses the run
      expect(await run.submit(1, '2')).toMatchObject({ code: expect.stringMatching(/evaluator_error|paused/) });
      const state = await run.client.until('the pause', ({ pause }) => pause !== null);
      expect(state.pause).toMatchObject({ reason: 'disk_low', by: 'hma' });
      expect(await run.submit(1, '2')).toMatchObject({ refused: { code: 'paused' } });
      await eventually('the notification', () =>
        /"kind":"paused".*disk_low/.test(readFileSync(join(place, 'told'), 'utf8')),
      );
      spawnSync('rm', [filler]);
      await run.client.until('the run to go on by itself', ({ pause }) => pause === null, 90_000);
      expect(await run.submit(1, '3')).toMatchObject({ outcome: 'accepted' });
      expect(run.client.state?.archive.map(({ score }) => score)).toEqual([1, 3]);
      expect(readFileSync(runFiles(run.runFolder).log, 'utf8')).not.toContain('died');
    },
  );
});
