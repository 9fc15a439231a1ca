import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { standing } from '../../src/archive/order.ts';
import { removeRun, tidyRun } from '../../src/client/tidy.ts';
import { startRun } from '../../src/controller/launch.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';
import { finalCandidate } from '../../src/review/selection.ts';
import type { RunEvent } from '../../src/run/events.ts';
import type { RunState } from '../../src/run/model.ts';
import { openSnapshotsReadOnly } from '../../src/snapshots/store.ts';
import { untilNothingRuns } from '../rig/crashRun.ts';
import { eventsOf, followRun, startTestRun, type TestRun } from '../rig/run.ts';
import { layOutTask, type TaskWish } from '../rig/task.ts';

/** Larger than what a snapshot keeps in git, bytes. */
const largeBytes = 9 * 1024 * 1024;
const first: TaskWish = {
  A: { 1: [{ submit: 1 }, { submit: 1.5 }, { submit: 'x' }], review: [{ nominate: 'e1' }] },
  B: { 2: [{ submit: { text: '3', note: 'wider' } }], review: [{ nominate: 'e1' }] },
  contract: {
    candidate: ['candidate.txt', 'weights.bin'],
    policy: { cap: 3 },
    budgets: { total: '5m', review: '40s', experiments: 3 },
    grade: { command: [process.execPath, '-e', graderText()], timeout: '20s' },
  },
};

function graderText(): string {
  return "require('fs').writeFileSync(process.env.HMA_RESULT, JSON.stringify({ score: 42 }))";
}

/** The same task, with other plans and whatever else differs. */
const then = (wish: Pick<TaskWish, 'A' | 'B'>, contract: Readonly<Record<string, unknown>> = {}): TaskWish => ({
  ...wish,
  candidate: null,
  contract: { ...first.contract, ...contract },
});

/** A finished run with three candidates of which each holds a large file too, its processes gone. */
async function finishedRun(): Promise<TestRun> {
  const run = await startTestRun(first, {}, (folders) =>
    writeFileSync(join(folders.workspace, 'weights.bin'), Buffer.alloc(largeBytes, 'w')),
  );
  await run.finished(120_000);
  run.client[Symbol.dispose]();
  await untilNothingRuns(run.folders.root, 60_000);
  return run;
}

async function goOn(earlier: Pick<TestRun, 'folders' | 'runFolder'>, wish: TaskWish, env: NodeJS.ProcessEnv = {}) {
  const { folders } = earlier;
  const contract = await layOutTask(folders, wish);
  return startRun({
    ...{ workspace: folders.workspace, contract, home: folders.home, from: earlier.runFolder },
    env: { ...process.env, ...env },
  });
}

async function goneOn(earlier: TestRun, wish: TaskWish, env: NodeJS.ProcessEnv = {}): Promise<TestRun> {
  const started = await goOn(earlier, wish, env);
  if (!started.ok) throw new Error(`${started.refusal.reason}: ${started.refusal.text}`);
  return followRun(earlier.folders, started.value);
}

const stateOf = (run: Pick<TestRun, 'runFolder'>): RunEvent[] => eventsOf(run.runFolder) as RunEvent[];

/** What of an archive must not change when it comes over. */
const lasting = ({ archive }: RunState) =>
  archive.map(({ id, score, note, acceptedWall, snapshot, contentHash, grade }) => ({
    ...{ id, score, note, acceptedWall, snapshot, contentHash, grade },
  }));

describe('a run that goes on from another', { timeout: 240_000 }, () => {
  let earlier: TestRun;
  beforeAll(async () => {
    earlier = await finishedRun();
  }, 180_000);
  afterAll(() => earlier[Symbol.asyncDispose]());

  it('that makes no candidate has one of the earlier run as its final one', async () => {
    const run = await goneOn(earlier, then({ A: {}, B: {} }, { stopAfterBarren: 1 }));
    const done = await run.finished(120_000);
    run.client[Symbol.dispose]();
    expect(done.archive).toHaveLength(3);
    expect(finalCandidate({ ...done, ...done.terms })).toMatchObject({ candidate: 'e4', by: 'fallback' });
    expect(standing(done.archive)?.id).toBe('e4');
    expect(done.review).toMatchObject({ reviewer: 'A', outcome: 'silent' });
  });

  it('begins the same, wherever its controller is killed while it takes over', async () => {
    const kills = ['snapshot.adopt.large', 'snapshot.adopt.objects', 'snapshot.adopt.refs', 'ledger.beforeWrite@start'];
    const firstBatch = async (plan: readonly string[]) => {
      const file = join(earlier.folders.root, `plan-${plan.length}`);
      writeFileSync(file, `${plan.join('\n')}\n`);
      const run = await goneOn(
        earlier,
        then({ A: { default: [{ submit: 5 }] }, B: {} }, { budgets: { total: '5m', review: '40s', experiments: 1 } }),
        {
          HMA_CRASH_PLAN: file,
        },
      );
      const done = await run.finished(120_000);
      run.client[Symbol.dispose]();
      await untilNothingRuns(earlier.folders.root, 60_000);
      const killed = existsSync(`${file}.done`) ? readFileSync(`${file}.done`, 'utf8').trim().split('\n') : [];
      expect(killed).toEqual(plan);
      const refs = readdirSync(join(runFiles(run.runFolder).snapshots, 'repo.git/refs/hma/carried')).toSorted();
      const store = openSnapshotsReadOnly({ dir: runFiles(run.runFolder).snapshots });
      for (const { snapshot } of done.archive) expect(await store.verify(snapshot)).toEqual([]);
      const packs = readdirSync(join(runFiles(run.runFolder).snapshots, 'repo.git/objects/pack')).filter(
        (name) => !/^pack-.*\.(pack|idx|rev)$/.test(name),
      );
      const batch = stateOf(run)
        .filter(({ type }) => type === 'candidate.carried')
        .map(({ seq, data }) => ({ seq, data }));
      const [opened] = stateOf(run);
      return {
        batch,
        refs,
        packs,
        from: opened?.type === 'run.opened' ? opened.data.from : null,
        archive: done.archive.map(({ id }) => id),
      };
    };
    const undisturbed = await firstBatch([]);
    expect(undisturbed).toMatchObject({
      refs: ['beginning', 'e1', 'e2', 'e4'],
      packs: [],
      archive: ['e1', 'e2', 'e4', 'e5'],
    });
    expect(undisturbed.batch).toHaveLength(3);
    expect(await firstBatch(kills)).toEqual(undisturbed);
    const written = ['ledger.written@start', 'ledger.synced@start', 'ledger.confirmed@start'];
    expect(await firstBatch(written)).toEqual(undisturbed);
  });

  it('is refused where the earlier one can not be gone on from, and leaves nothing behind', async () => {
    const { folders } = earlier;
    const runs = () => readdirSync(join(earlier.runFolder, '..'));
    const before = runs();
    const words = async (wish: TaskWish, from: Pick<TestRun, 'folders' | 'runFolder'> = earlier) => {
      const started = await goOn(from, wish);
      return started.ok ? 'started' : `${started.refusal.reason}: ${started.refusal.text}`;
    };
    const plain = then({ A: {}, B: {} });
    expect(
      await words(
        then(
          { A: {}, B: {} },
          {
            metric: { name: 'number', direction: 'minimize' },
            evaluate: { command: [process.execPath, 'evaluate.mjs'], timeout: '20s', repeats: 2 },
          },
        ),
      ),
    ).toBe(
      `from_differs: scores of run ${earlier.run} can't be compared with those of this run: metric.direction was "maximize" and is "minimize"; evaluate.repeats was 1 and is 2`,
    );
    await using other = await startTestRun({ A: { default: [{ submit: 1 }] }, B: {} });
    expect(await words(plain, { folders, runFolder: other.runFolder })).toMatch(
      /^from_elsewhere: run \S+ worked in \S+, not in \S+$/,
    );
    expect(await words(plain, { folders: other.folders, runFolder: other.runFolder })).toMatch(
      /^from_not_over: run \S+ is not over$/,
    );
    const record = readFileSync(runFiles(earlier.runFolder).run, 'utf8');
    writeFileSync(
      runFiles(earlier.runFolder).run,
      JSON.stringify({ ...(JSON.parse(record) as object), importedWall: 1 }),
    );
    expect(await words(plain)).toMatch(/^from_imported: /);
    writeFileSync(runFiles(earlier.runFolder).run, record);

    const contract = await layOutTask(folders, plain);
    appendFileSync(join(folders.workspace, 'evaluate.mjs'), '\n');
    const changed = await startRun({
      workspace: folders.workspace,
      contract,
      home: folders.home,
      env: process.env,
      from: earlier.runFolder,
    });
    expect(changed).toMatchObject({
      refusal: {
        reason: 'from_differs',
        text: expect.stringMatching(/: the protected file evaluate\.mjs was changed$/),
      },
    });
    await layOutTask(folders, plain);

    const ledger = join(earlier.runFolder, 'ledger-1.jsonl');
    const text = readFileSync(ledger, 'utf8');
    writeFileSync(ledger, text.replace('"score":3', '"score":4'));
    expect(await words(plain)).toMatch(
      /^from_broken: the ledger of run \S+ is not whole: \S+ledger-1\.jsonl:\d+: event \d+ or the line before it was changed$/,
    );
    writeFileSync(ledger, text);

    const large = join(runFiles(earlier.runFolder).snapshots, 'large');
    const [name = ''] = readdirSync(large);
    const bytes = readFileSync(join(large, name));
    rmSync(join(large, name));
    expect(await words(plain)).toMatch(
      /^from_broken: the candidates of run \S+ could not be copied: the large file \w+ is gone or has another length$/,
    );
    writeFileSync(join(large, name), bytes, { mode: 0o400 });
    expect(runs()).toEqual(before);
  });

  it('has its candidates under their ids, spends only its own budget, and stands alone when the earlier one is removed (here); so does a third', async () => {
    const before = readLedger(earlier.runFolder);
    const was = earlier.client.state as RunState;
    expect(was.archive.map(({ id }) => id)).toEqual(['e1', 'e2', 'e4']); // e3 was rejected

    const run = await goneOn(
      earlier,
      then(
        {
          A: { 1: [{ submit: 3 }, { submit: 4 }], review: [{ nominate: 'e2' }] },
          B: { 1: [{ submit: 8 }], default: [{ hma: ['archive'] }], review: [{ nominate: 'e2' }] },
        },
        { budgets: { total: '5m', review: '40s', experiments: 1 } },
      ),
    );
    const done = await run.finished(120_000);
    const [opened] = stateOf(run);
    expect(opened?.data).toMatchObject({
      from: { run: was.run, seq: before.last?.lastSeq, hash: before.last?.hash, candidates: 3, experiments: 4 },
      terms: { policy: { first: 'A' } }, // beta had the last option
    });
    expect(done.options[0]?.agent).toBe('A');
    expect(lasting(done).slice(0, 3)).toEqual(
      // e2 is chosen anew, and graded because of that
      lasting(was).map((each) =>
        each.id === 'e2' ? { ...each, grade: expect.objectContaining({ kind: 'graded', grade: 42 }) } : each,
      ),
    );
    expect(
      done.archive.map(({ id, author, option, origin }) => [id, author, option, origin?.run, origin?.agent]),
    ).toEqual([
      ['e1', 'A', 1, was.run, 'alpha'],
      ['e2', 'A', 1, was.run, 'alpha'],
      ['e4', 'B', 2, was.run, 'beta'],
      ['e6', 'A', 1, undefined, undefined],
    ]);
    expect(done.experiments.map((one) => [one.id, one.state, 'code' in one ? one.code : null])).toEqual([
      ['e5', 'rejected', 'duplicate'],
      ['e6', 'accepted', null],
    ]);
    expect(done.explorationEnding).toBe('budget');
    expect(done.review?.reviewer).toBe('B');
    expect(finalCandidate({ ...done, ...done.terms })).toMatchObject({ candidate: 'e2', by: 'reviewer' });
    expect(readFileSync(join(run.runFolder, 'sessions/option-1/shown/prompt.md'), 'utf8')).toContain(
      'There are 3 accepted candidates so far, listed in .hma/archive.md. The latest one stands: e4 (by your peer, session 2 of an earlier run, score 3; note: "wider").',
    );
    expect(readFileSync(join(earlier.folders.workspace, '.hma/archive.md'), 'utf8')).toContain(
      `| e4 | 2 of run ${was.run} | beta | 3 | wider |`,
    );
    expect(readLedger(earlier.runFolder)).toEqual(before);

    run.client[Symbol.dispose]();
    await untilNothingRuns(earlier.folders.root, 60_000);
    const large = join(runFiles(run.runFolder).snapshots, 'large');
    expect(readdirSync(large).map((name) => statSync(join(large, name)).nlink > 1)).toEqual([true]); // shared, also after its own capture
    const place = (one: TestRun) => ({
      run: one.run,
      folder: one.runFolder,
      home: earlier.folders.home,
      workspace: earlier.folders.workspace,
    });
    expect(await removeRun(place(earlier))).toMatchObject({ ok: true });
    expect(await tidyRun(place(run), false)).toMatchObject({ kind: 'collected' });
    const store = openSnapshotsReadOnly({ dir: runFiles(run.runFolder).snapshots });
    for (const { snapshot } of done.archive) expect(await store.verify(snapshot)).toEqual([]);
    expect((await store.read(done.archive[0]?.snapshot ?? '', 'weights.bin')).length).toBe(largeBytes);
    expect(await store.has(done.from?.initial ?? '')).toBe(true);

    const third = await goneOn(
      run,
      then({ A: {}, B: { 1: [{ submit: 9 }] } }, { budgets: { total: '5m', review: '40s', experiments: 1 } }),
    );
    const last = await third.finished(120_000);
    third.client[Symbol.dispose]();
    expect(last.archive.map(({ id, origin }) => [id, origin?.run])).toEqual([
      ...['e1', 'e2', 'e4'].map((id) => [id, was.run]),
      ['e6', run.run],
      ['e7', undefined],
    ]);
    expect(last.from).toMatchObject({ run: run.run, candidates: 4, experiments: 6, initial: was.initial });
    expect(last.options[0]?.agent).toBe('B'); // alpha had the only option of the second run
  });
});
