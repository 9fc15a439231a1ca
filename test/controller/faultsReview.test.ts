import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { runFiles } from '../../src/ledger/places.ts';
import { finalCandidate } from '../../src/review/selection.ts';
import type { RunState } from '../../src/run/model.ts';
import type { ScriptedTask } from '../rig/crashScenario.ts';
import { eventsOf, outputOf, processesOf } from '../rig/run.ts';
import { eventually, revive, startFaultRun } from '../rig/faultRun.ts';

/** Two candidates, e1 by A and e2 by B, and then the review: by A, who did not write the standing one. */
const twoThenReview = (reviewer: string, more: { experiments?: number; review?: string } = {}): ScriptedTask => ({
  A: { '1.1': 'submit 1; hold', review: reviewer },
  B: { '2.1': 'submit 2; hold', review: 'exit 1' },
  contract: {
    policy: { cap: 1 },
    budgets: { total: '30m', review: more.review ?? '5m', experiments: more.experiments ?? 2 },
  },
});

const final = (state: RunState) => finalCandidate({ ...state, ...state.terms });
const ballot = (candidate: string): string =>
  `printf '{"candidate": "${candidate}", "reason": "by file"}' > ballot.json`;

describe('a final review ends in one honest word', () => {
  it.each([
    [
      'chosen',
      'by command',
      'hma nominate e1 --reason "the first"; hma nominate e9 --reason "no such one"; exit 0',
      { candidate: 'e1', by: 'reviewer', reason: 'the first' },
      1,
    ],
    [
      'endorsed',
      'by file, the last valid ballot counts',
      `${ballot('e1')}; sleep 2.2; ${ballot('e2')}; exit 0`,
      { candidate: 'e2', by: 'reviewer', reason: 'by file' },
      1,
    ],
    ['silent', 'and is asked once more', 'exit 0', { candidate: 'e2', by: 'fallback' }, 2],
    ['crashed', 'and is asked once more', 'exit 3', { candidate: 'e2', by: 'fallback' }, 2],
    ['invalid', 'with an unknown candidate', `${ballot('e9')}; exit 0`, { candidate: 'e2', by: 'fallback' }, 2],
  ] as const)('%s %s', async (outcome, _, script, selected, attempts) => {
    await using run = await startFaultRun(twoThenReview(script));
    const state = await run.finished();
    expect(state.review).toMatchObject({
      reviewer: 'A',
      outcome,
      attempts: Array.from({ length: attempts }, () => ({ state: 'ended' })),
    });
    expect(final(state)).toMatchObject(selected);
    if (outcome === 'chosen')
      expect(outputOf(run.runFolder, 'review')).toMatch(
        /refused \(invalid\): there is no candidate "e9"|there is no candidate/,
      );
    if (outcome === 'invalid')
      expect(eventsOf(run.runFolder).find(({ type }) => type === 'review.closed')?.data).toMatchObject({
        detail: 'there is no candidate "e9"; hma archive lists them',
      });
  });

  it('late when the window closes, with everything of the reviewer gone in time', async () => {
    await using run = await startFaultRun(twoThenReview("trap '' TERM; sleep 9999 & hold", { review: '5s' }));
    const state = await run.finished();
    expect(state.review).toMatchObject({ outcome: 'late', endReason: 'deadline' });
    expect(final(state)).toMatchObject({ candidate: 'e2', by: 'fallback' });
    // it is ended before the window is over, and although it ignores TERM it gets only half of what is left then
    expect(state.review?.endingAt).toBeGreaterThanOrEqual((state.explorationEndedAt ?? Infinity) + 4500);
    const spec = JSON.parse(
      readFileSync(join(runFiles(run.runFolder).sessions, 'review', 'attempt-1', 'spec.json'), 'utf8'),
    ) as { graceMs: number };
    expect(spec.graceMs).toBe(250);
    expect(processesOf(run.folders.root).filter(({ command }) => command.includes('sleep'))).toEqual([]);
  });

  it('skipped with one candidate; none at all finishes without a selection', async () => {
    await using run = await startFaultRun(twoThenReview('hold', { experiments: 1 }));
    const state = await run.finished();
    expect(state.review).toMatchObject({ outcome: 'skipped', attempts: [] });
    expect(final(state)).toMatchObject({ candidate: 'e1', by: 'fallback' });
    expect(eventsOf(run.runFolder).find(({ type }) => type === 'review.closed')?.data).toEqual({
      outcome: 'skipped',
      detail: 'there is only one candidate',
    });
  });
});

describe("a person's selection", () => {
  it('is a pin: it holds against a later nomination, can be changed after the end by waking the run, and can be cleared', async () => {
    await using run = await startFaultRun(twoThenReview('hold'));
    await run.open('review');
    expect(
      await run.client.intend({ kind: 'select', candidate: 'e2', reason: 'I know better', by: 'a person' }),
    ).toMatchObject({ done: true });
    expect(await run.client.intend({ kind: 'select', candidate: 'e7', reason: 'a typo', by: 'a person' })).toEqual({
      done: false,
      reason: 'unknown_candidate',
      text: 'there is no candidate e7; see hma candidates',
    });
    expect(await run.hma('review', 'nominate', 'e1', '--reason', 'the reviewer thinks so')).toMatchObject({ exit: 0 });
    expect(await run.submit('review', '9')).toEqual({
      refused: { code: 'in_review', reason: 'the final review takes no submissions; nominate a candidate instead' },
    });
    // the review can be shortened to what is left, which ends it
    const { active } = eventsOf(run.runFolder).at(-1) ?? { active: 0 };
    expect(
      await run.client.intend({ kind: 'budget', totalMs: Math.round(active + 1000), reviewMs: 500, by: 'a person' }),
    ).toMatchObject({ done: false, reason: 'exploration_over' });
    expect(await run.client.intend({ kind: 'budget', totalMs: 300_001, by: 'a person' })).toMatchObject({ done: true });
    await run.client.intend({ kind: 'stop', by: 'a person' });
    const state = await run.finished();
    expect(state.review).toMatchObject({ outcome: 'chosen' });
    expect(state.selections.map(({ candidate, by }) => [candidate, by])).toEqual([
      ['e2', 'person'],
      ['e1', 'reviewer'],
    ]);
    expect(final(state)).toEqual({ candidate: 'e2', by: 'person', reason: 'I know better' });
    // the run's controller and keeper have left by themselves once nobody looks
    run.client[Symbol.dispose]();
    await eventually('everything of the run to leave', () => processesOf(run.folders.root).length === 0);
    expect(await revive(run)).toBe('taken up');
    expect(await run.person('select', 'e1', '--reason', 'on second thought')).toMatchObject({ exit: 0 });
    expect(await run.person('select', '--clear', '--reason', 'enough')).toMatchObject({ exit: 0 });
    const status = JSON.parse((await run.person('status', '--json')).out) as { final: unknown };
    expect(status.final).toEqual({ candidate: 'e1', by: 'reviewer', reason: 'the reviewer thinks so' });
    expect(eventsOf(run.runFolder).filter(({ type }) => type === 'candidate.selected')).toHaveLength(3);
  });
});
