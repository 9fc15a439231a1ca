import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { exitCodes } from '../../src/cli/exitCodes.ts';
import { replayRun } from '../../src/run/evolve.ts';
import { eventsOf } from '../rig/run.ts';
import { holding, powerCut, revive, startFaultRun, type FaultRun } from '../rig/faultRun.ts';

const segments = (run: FaultRun): string[] =>
  readdirSync(run.runFolder).filter((name) => /^ledger-\d+\.jsonl$/.test(name));

/** Puts a run's ledger back to these bytes of its only segment; claims are left, so that fences grow. */
function putBack(run: FaultRun, bytes: Buffer): void {
  for (const name of segments(run)) rmSync(join(run.runFolder, name));
  writeFileSync(join(run.runFolder, 'ledger-1.jsonl'), bytes);
}

describe('a damaged ledger', () => {
  it('cut anywhere is continued from before the cut; damage inside or a newer format is refused in words with its place, and can be read', async () => {
    await using run = await startFaultRun({ ...holding, contract: { policy: { cap: 'none' } } });
    await run.open(1);
    for (const text of ['1', '2', '3']) expect(await run.submit(1, text)).toMatchObject({ outcome: 'accepted' });
    await powerCut(run);
    const whole = readFileSync(join(run.runFolder, 'ledger-1.jsonl'));
    const all = eventsOf(run.runFolder);
    const accepted = [...whole.toString('latin1').matchAll(/^.*"experiment\.accepted".*$/gm)].map((found) => ({
      from: found.index,
      to: found.index + found[0].length,
    }));
    const lineOf = (at: number): number => whole.subarray(0, at).filter((byte) => byte === 10).length + 1;
    const [, second = { from: 0, to: 0 }, third = { from: 0, to: 0 }] = accepted;

    // a flipped byte inside
    const flipped = Buffer.from(whole);
    flipped[second.from + 20] = (flipped[second.from + 20] ?? 0) ^ 1;
    putBack(run, flipped);
    const line = lineOf(second.from);
    expect(await revive(run)).toMatch(
      new RegExp(
        `^broken_ledger: The run's ledger can't be continued: ${run.runFolder}/ledger-1\\.jsonl:${line}: .*restore the file from a backup to continue the run`,
      ),
    );
    expect(await run.person('log')).toMatchObject({
      exit: exitCodes.ok,
      out: expect.stringContaining('e1   accepted'),
      err: expect.stringContaining(`ledger-1.jsonl:${line}`),
    });
    const status = await run.person('status', '--json');
    expect(JSON.parse(status.out)).toMatchObject({ live: false, phase: 'exploring', standing: 'e1' });
    expect(readFileSync(join(run.runFolder, 'ledger-1.jsonl'))).toEqual(flipped);

    // a newer format
    putBack(run, Buffer.from(whole.toString('utf8').replace(/"v":\d+/, '"v":999')));
    expect(await revive(run)).toMatch(
      /ledger-1\.jsonl:1: it has format 999, which a newer HMA wrote.*Continue this run with the newer HMA/,
    );
    expect(await run.person('log')).toMatchObject({
      exit: exitCodes.failed,
      err: expect.stringMatching(/ledger-1\.jsonl:1: it has format 999/),
    });

    // cut in the middle of the last acceptance, in the middle of an earlier line, at a line's end
    for (const cut of [third.from + 30, second.to - 1, second.to + 1]) {
      putBack(run, whole.subarray(0, cut));
      expect(await revive(run)).toBe('taken up');
      const events = eventsOf(run.runFolder);
      const kept = events.findIndex(
        ({ type, data }) => type === 'controller.started' && (data as { fence: number }).fence > 1,
      );
      expect(kept).toBeGreaterThan(0);
      expect(events.slice(0, kept)).toEqual(all.slice(0, kept));
      expect(replayRun(events)?.archive.map(({ id }) => id)).toEqual(cut <= second.to ? ['e1'] : ['e1', 'e2']);
      // what was cut off is set aside, never thrown away
      if (cut !== second.to + 1)
        expect(readdirSync(run.runFolder).some((name) => name.startsWith('ledger-1.torn-'))).toBe(true);
      await powerCut(run);
    }
  });
});
