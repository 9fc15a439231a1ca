import { describe, expect, it } from 'vitest';

import { ClockWatch } from '../../src/controller/clockWatch.ts';

/** A watch over clocks that a test moves, and what it says after each move. */
function watched() {
  const reading = { wall: 1_800_000_000_000, mono: 1000, boot: 'a', asleep: 0 };
  const watch = new ClockWatch({ now: () => ({ ...reading }), asleep: () => reading.asleep });
  return (move: {
    readonly wall?: number;
    readonly mono?: number;
    readonly asleep?: number;
    readonly boot?: string;
  }) => {
    reading.wall += move.wall ?? 0;
    reading.mono += move.mono ?? 0;
    reading.asleep += move.asleep ?? 0;
    reading.boot = move.boot ?? reading.boot;
    return watch.look().map((fact) => (fact.type === 'run.noticed' ? [fact.data.code, fact.data.text] : fact));
  };
}

const [second, minute, hour] = [1000, 60_000, 3_600_000];

describe('what the clocks did', () => {
  it('time that passes is nothing to speak of, nor is a nap or the correction of a clock', () => {
    const after = watched();
    expect(after({ wall: 5 * second, mono: 5 * second })).toEqual([]);
    expect(after({ wall: 14 * second, mono: 5 * second, asleep: 9 * second })).toEqual([]);
    expect(after({ wall: 50 * second, mono: 5 * second })).toEqual([]);
  });

  it('a sleep is told once, with its length', () => {
    const after = watched();
    const told = [['asleep', 'the machine slept for 1 h 20 min; the run stood still and none of it counts']];
    expect(after({ wall: 80 * minute + second, mono: second, asleep: 80 * minute })).toEqual(told);
    expect(after({ wall: 5 * second, mono: 5 * second })).toEqual([]);
  });

  it('a time of day that was set is told with its direction', () => {
    const after = watched();
    const told = (how: string) => [
      ['clock_set', `the machine's time of day was set ${how} by 3 h; active runtime is not changed by it`],
    ];
    expect(after({ wall: 3 * hour })).toEqual(told('forward'));
    expect(after({ wall: -3 * hour })).toEqual(told('back'));
  });

  it('another boot is no sleep', () => {
    expect(watched()({ wall: hour, mono: -500, boot: 'b', asleep: -5 * hour })).toEqual([]);
  });
});
