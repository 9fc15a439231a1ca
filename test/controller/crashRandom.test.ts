import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { kill, nurse, seeded, steadyAlternation, toldTo, victims, type Victim } from '../rig/crashKiller.ts';
import { brokenLaws } from '../rig/crashLaws.ts';
import { startCrashRun, untilNothingRuns } from '../rig/crashRun.ts';

/*
 * Kills from outside at moments that no crash point names: whoever dies, the laws hold and the run finishes. A failing round is played
 * again with HMA_SEED=<its seed>. HMA_LONG=1 plays 100 rounds instead of 12.
 */
const rounds = process.env['HMA_SEED']
  ? [Number(process.env['HMA_SEED'])]
  : Array.from({ length: process.env['HMA_LONG'] === '1' ? 100 : 12 }, (_, at) => at + 1);
const lanes = 3;

/** One run with one to three kills; every victim comes first in turn. */
async function round(seed: number): Promise<{ killed: string[]; wrong: string[] }> {
  const random = seeded(seed);
  const clockFolder = mkdtempSync(join(tmpdir(), 'hma-clock-'));
  const clockFile = join(clockFolder, 'clock.json');
  writeFileSync(clockFile, '{}');
  const env = { ...process.env, HMA_TEST_CLOCK: clockFile };
  const killed: string[] = [];
  try {
    await using run = await startCrashRun({ task: steadyAlternation, env });
    const healthy = new AbortController();
    const nursing = nurse(run, env, healthy.signal);
    nursing.catch(() => undefined);
    try {
      const first = victims[seed % victims.length] as Victim;
      const wishes = [
        first,
        ...Array.from(
          { length: Math.floor(random() * 3) },
          () => victims[Math.floor(random() * victims.length)] as Victim,
        ),
      ];
      for (const victim of wishes) {
        await Promise.race([
          run.finished(120_000),
          new Promise((resolve) => setTimeout(resolve, 200 + random() * 9000)),
        ]);
        const active = run.client.state?.seq ?? 0;
        if (run.client.state?.phase !== 'finished' && (await kill(run, victim, clockFile)))
          killed.push(`${victim} after event ${active}`);
      }
      await Promise.race([run.finished(180_000), nursing.then(() => new Promise(() => undefined))]);
      healthy.abort();
      await nursing;
      run.client[Symbol.dispose]();
      await untilNothingRuns(run.folders.root);
      const wrong = await brokenLaws({ runFolder: run.runFolder, seenState: run.client.state, cap: 2 });
      const told = toldTo(run);
      const archived = new Set(run.client.state?.archive.map(({ id }) => id));
      for (const id of told.accepted)
        if (!archived.has(id)) wrong.push(`a session was told that ${id} is accepted, and it is not in the archive`);
      const experiments = new Set(run.client.state?.experiments.map(({ id }) => id));
      for (const id of told.known)
        if (!experiments.has(id)) wrong.push(`a session was told of ${id}, and nobody knows it`);
      return { killed, wrong };
    } catch (error) {
      return { killed, wrong: [`${String(error).slice(0, 6000)}\n${run.log().slice(-4000)}`] };
    } finally {
      healthy.abort();
      await nursing.catch(() => undefined);
    }
  } finally {
    rmSync(clockFolder, { recursive: true, force: true });
  }
}

it(
  'whoever is killed at whatever moment, nothing accepted is lost and the run finishes',
  async () => {
    const left = [...rounds];
    const wrong: string[] = [];
    let kills = 0;
    const lane = async (): Promise<void> => {
      for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
        const played = await round(seed);
        kills += played.killed.length;
        console.log(
          `round ${seed}: killed ${played.killed.join(', ') || 'nobody'}: ${played.wrong.length === 0 ? 'all laws hold' : 'WRONG'}`,
        );
        if (played.wrong.length > 0)
          wrong.push(`HMA_SEED=${seed}, killed ${played.killed.join(', ')}:\n${played.wrong.join('\n')}`);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    console.log(`random kills: ${kills} in ${rounds.length} runs`);
    expect(wrong).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(rounds.length);
  },
  rounds.length * 60_000 + 120_000,
);
