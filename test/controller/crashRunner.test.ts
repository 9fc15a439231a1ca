import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { installRuntime } from '../../src/controller/runtime.ts';
import { runnerCrashPoints } from '../../src/machines/crashPoints.ts';
import { crashRunner } from '../rig/crashBuild.ts';
import { steadyAlternation } from '../rig/crashKiller.ts';
import { brokenLaws } from '../rig/crashLaws.ts';
import { startCrashRun, untilNothingRuns } from '../rig/crashRun.ts';

/** Every point, with attempts and evaluations in turn; with HMA_LONG=1 every point with both. */
const cases = (['attempt', 'evaluation'] as const)
  .flatMap((kind) =>
    runnerCrashPoints.map((point, at) => ({ kind, point, inTurn: (at % 2 === 0) === (kind === 'attempt') })),
  )
  .filter(({ inTurn }) => inTurn || process.env['HMA_LONG'] === '1');
const lanes = 3;

/** A run in which one runner dies at one point; what of the laws is broken. */
async function wrongWith(given: (typeof cases)[number]): Promise<string[]> {
  await using run = await startCrashRun({ task: steadyAlternation, prepare: (home) => crashRunner(home, given) });
  try {
    await run.finished(180_000);
    run.client[Symbol.dispose]();
    await untilNothingRuns(run.folders.root);
    const wrong = await brokenLaws({ runFolder: run.runFolder, seenState: run.client.state, cap: 2 });
    if (!existsSync(join(installRuntime(run.folders.home).folder, 'killed'))) wrong.push('no runner died');
    return wrong;
  } catch (error) {
    return [`${String(error).slice(0, 4000)}\n${run.log().slice(-3000)}`];
  }
}

it('a runner may die at every point of its own: the laws hold and the run finishes', async () => {
  const left = [...cases];
  const wrong: string[] = [];
  const lane = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const words = await wrongWith(one);
      if (words.length > 0) wrong.push(`${one.kind} at ${one.point}: ${words.join('; ')}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  expect(wrong).toEqual([]);
}, 900_000);
