import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { mutatedController, straceControllers, useController, type Mutation } from '../rig/crashBuild.ts';
import { killEverywhere, referenceOf, type Scenario } from '../rig/crashMatrix.ts';
import { breaches, readCalls, straceFiles, unlistedEffects } from '../rig/crashOrder.ts';
import { startCrashRun } from '../rig/crashRun.ts';
import type { ScriptedTask } from '../rig/crashScenario.ts';

/** Two options, a review and a grade: every kind of write, spawn, signal and answer once at least. */
const short: ScriptedTask = {
  A: { '1.1': 'submit 1; submit 2; hold' },
  B: { '2.1': 'submit 3; exit 0', review: 'hma nominate e1 --reason "the plan says so"; exit 0' },
  contract: {
    budgets: { total: '40m', review: '10m', experiments: 3 },
    grade: { command: ['sh', 'grade.sh'], timeout: '20s' },
  },
};

/** Runs the short task with its controllers under strace to its end; with another build only until the breach that is looked for is seen. */
async function traced(wrong?: { readonly controller: string; readonly breach: string }) {
  let file = '';
  await using run = await startCrashRun({
    task: short,
    prepare(home) {
      file = join(home, 'strace');
      if (wrong) useController(home, wrong.controller);
      straceControllers(home, file);
    },
  });
  const calls = () =>
    straceFiles(file).flatMap((each) => readCalls(each, { root: run.folders.root, runFolder: run.runFolder }));
  const finished = run.finished(120_000).then(
    () => 'finished',
    (error: unknown) => {
      if (!wrong) throw error;
      return 'never'; // a wrong build may not come to an end
    },
  );
  const seen = (): boolean =>
    wrong !== undefined && breaches(calls()).broken.some((words) => words.includes(wrong.breach));
  for (let over: unknown = 'looking'; over === 'looking' && !seen();) {
    over = await Promise.race([finished, new Promise((resolve) => setTimeout(() => resolve('looking'), 1000))]);
  }
  return calls();
}

const mutations: readonly (Mutation & { readonly breach: string })[] = [
  {
    what: 'the objects are not synced before the ref',
    file: 'snapshots/fastImport.ts',
    from: "syncFolder(join(this.#repository.path, 'objects', 'pack'));",
    to: '',
    breach: 'a ref was set before its objects were synced',
  },
  {
    what: 'the ref is set after the event',
    file: 'snapshots/store.ts',
    from: 'setRef(this.#repository, request.ref, snapshot.id);',
    to: 'setTimeout(() => setRef(this.#repository, request.ref, snapshot.id), 300);',
    breach: 'an experiment was written before the ref of its files was synced',
  },
  {
    what: 'events are told before they are synced',
    file: 'ledger/openLedger.ts',
    from: 'this.#orRollBack(() => fdatasyncSync(this.#fd));',
    to: 'setTimeout(() => fdatasyncSync(this.#fd), 5);',
    breach: 'before it was synced',
  },
  {
    what: 'the receipt comes before the event',
    file: 'controller/gate.ts',
    from: "recorder.append(decided.facts);\n    crashAt('reply.submit');",
    to: "setTimeout(() => recorder.append(decided.facts), 50);\n    crashAt('reply.submit');",
    breach: 'a session was told of e1 before it was synced',
  },
  {
    what: 'a session is signalled before the intent to end it is written',
    file: 'controller/controller.ts',
    from: "return intendEnd(this.#room, { kind: 'option', number: step.option, reason: step.reason });",
    to: "return this.#effect('early', async () => { await endSessionTree(this.#room, { kind: 'option', number: step.option }); intendEnd(this.#room, { kind: 'option', number: step.option, reason: step.reason }); });",
    breach: 'a session was signalled before the intent to end it was synced',
  },
];

// strace is Linux's; `npm test` installs it where it can
describe.runIf(existsSync('/usr/bin/strace'))('the order of writes (strace)', () => {
  it('is objects, ref, event, receipt; intents come before spawns and signals; every effect is listed', async () => {
    const calls = await traced();
    const { broken, receipts, events, spawns, signals } = breaches(calls);
    expect(broken).toEqual([]);
    expect(unlistedEffects(calls)).toEqual([]);
    expect(receipts).toBeGreaterThanOrEqual(6);
    expect(events).toBeGreaterThan(40);
    expect(spawns).toBeGreaterThanOrEqual(7);
    expect(signals).toBeGreaterThanOrEqual(1);
  }, 180_000);

  it.each(mutations.map((mutation) => [mutation.what, mutation] as const))(
    'is noticed to be wrong when %s',
    async (_what, mutation) => {
      const { broken } = breaches(
        await traced({ controller: await mutatedController(mutation), breach: mutation.breach }),
      );
      expect(broken.filter((words) => words.includes(mutation.breach))).not.toEqual([]);
    },
    240_000,
  );
});

describe('the crash matrix', () => {
  it('fails on a build that answers before it writes', async () => {
    // agents that end by themselves and a run that ends with the first idle one: also what goes wrong comes to an end
    const scenario: Scenario = {
      cap: 2,
      task: {
        ...short,
        A: { '1.1': 'submit 1; submit 2; exit 0' },
        contract: { ...short.contract, stopAfterBarren: 1 },
      },
    };
    const reference = await referenceOf(scenario);
    const wrong = mutations.find(({ what }) => what === 'the receipt comes before the event');
    if (!wrong) throw new Error('the mutation is gone');
    const controller = await mutatedController(wrong);
    const swapped: Scenario = { ...scenario, prepare: (home) => useController(home, controller) };
    const point = 'ledger.beforeWrite@experiment.submitted';
    const good = await killEverywhere({ scenario, reference, points: [point], perRun: 1, lanes: 1 });
    const bad = await killEverywhere({ scenario: swapped, reference, points: [point], perRun: 1, lanes: 1 });
    expect(good.wrong).toEqual([]);
    expect(bad.wrong.join()).toContain('events differ');
  }, 240_000);
});
