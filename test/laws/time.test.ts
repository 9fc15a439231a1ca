import { describe, expect, it } from 'vitest';

import type { LedgerEvent } from '../../src/ledger/port.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { simulate } from './simulation.ts';
import { simulated } from './traces.ts';
import type { Scenario } from './scenario.ts';

const { traces, hold } = simulated(5);

/** The scenario without what rightly depends on the wall clock: `until` and a usage limit's reset. */
const withoutWall = (scenario: Scenario): Scenario => ({
  ...scenario,
  budgets: { ...scenario.budgets, until: null },
  attempts: scenario.attempts.map((attempt) => ({ ...attempt, end: { ...attempt.end, resetIn: null } })),
  disturbances: scenario.disturbances.filter(
    ({ what }) => what.do !== 'wall' && !(what.do === 'intend' && what.intent.kind === 'budget'),
  ),
});
const stepped = (scenario: Scenario): Scenario => ({
  ...scenario,
  disturbances: [
    { at: 150, what: { do: 'wall', stepMs: 86_400_000 } },
    { at: 600, what: { do: 'wall', stepMs: -3 * 86_400_000 } },
    ...scenario.disturbances,
  ],
});
const timeless = (events: readonly LedgerEvent[]) =>
  events.map(({ seq, mono, active, type, data }) => ({ seq, mono, active, type, data }));

describe('active runtime', () => {
  it('invariant 10: never runs backwards, stands while paused, and never outruns the monotonic clock', () => {
    hold(({ events }) => {
      let last: { active: number; mono: number } | null = null;
      let paused: number | null = null;
      for (const event of events as readonly RunEvent[]) {
        if (event.active < (last?.active ?? 0)) expect(event).toBe('not before the one before');
        if (last && event.type !== 'controller.started' && event.active - last.active > event.mono - last.mono + 1e-6)
          expect(event).toBe('not faster than the monotonic clock');
        if (paused !== null && event.active !== paused) expect(event).toBe('standing');
        if (event.type === 'run.paused') paused = event.active;
        if (event.type === 'run.resumed' || event.type === 'run.finished') paused = null;
        last = event;
      }
    });
  });

  it('invariant 10: is the monotonic time less the pauses, while one controller lives', () => {
    let pauses = 0;
    hold(({ events, scenario }) => {
      if (scenario.deaths.length > 0) return;
      let standing = 0;
      let since: number | null = null;
      for (const event of events as readonly RunEvent[]) {
        const expected = event.mono - (events[0]?.mono ?? 0) - standing - (since === null ? 0 : event.mono - since);
        if (Math.abs(event.active - expected) > 1e-6) expect(event.active).toBe(expected);
        if (event.type === 'run.finished') break; // a stop doesn't wait for a grade that is on its way
        if (event.type === 'run.paused') since = event.mono;
        if (event.type !== 'run.resumed' || since === null) continue;
        standing += event.mono - since;
        since = null;
        pauses++;
      }
    });
    expect(pauses).toBeGreaterThan(50);
  });

  it('invariant 10: steps of the wall clock change nothing but the stamps of the wall clock', () => {
    for (const { scenario } of traces.slice(0, 200)) {
      const plain = withoutWall(scenario);
      expect(timeless(simulate(stepped(plain)).events)).toStrictEqual(timeless(simulate(plain).events));
    }
  });

  it('a controller that was away while its session lived counts; a machine that was off doesn’t', () => {
    const seen = new Set<string>();
    hold(({ absences, state }) => {
      for (const { world, died, back, lasted, paused, lived } of absences) {
        const what = { world, died, back, lasted };
        if (state.finished && died >= state.finished.active) continue;
        if (paused) expect(back, JSON.stringify(what)).toBe(died);
        else if (lived) expect(back, JSON.stringify(what)).toBeCloseTo(died + lasted, 6);
        // a heartbeat is at most 5 s old; a silence of up to 15 s is no absence
        else if (world === 'reboots') expect(died - back >= 0 && died - back < 5_000, JSON.stringify(what)).toBe(true);
        else if (world === 'dies')
          expect(back - died <= 15_000 && died - back < 5_000, JSON.stringify(what)).toBe(true);
        seen.add(paused ? 'paused' : lived ? 'lived' : world);
      }
    });
    expect([...seen].toSorted()).toStrictEqual(['dies', 'lived', 'lives', 'paused', 'reboots']);
  });
});
