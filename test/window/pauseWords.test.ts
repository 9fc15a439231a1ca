import { describe, expect, it } from 'vitest';

import { sayMoment } from '../../src/base/moment.ts';
import { needsPerson, presenceWords, sayPhase } from '../../src/window/runWords.ts';
import { after, at } from '../laws/aState.ts';

const until = at(3_600_000).wall;
const detail = 'ada: usage_limit (resets later)';
const paused = after([5_000, { type: 'run.paused', data: { reason: 'usage_limit', detail, by: 'hma', until } }]);
const when = sayMoment(until, at(5_000).wall);

describe('a pause that ends by itself', () => {
  it('says when, and needs nobody', () => {
    expect(sayPhase(paused)).toBe(`paused until ${when}: usage limit`);
    expect(needsPerson(paused, 'live')).toBe(false);
    expect(presenceWords(paused, { presence: 'live', why: '' })).toBe(
      `Paused: ${detail}. The clock stands; the run goes on by itself at ${when}, or when somebody chooses Resume.`,
    );
  });

  it('is told as the time of day, with the date on another day', () => {
    const noon = new Date(2026, 10, 30, 12, 5).getTime();
    expect([sayMoment(noon, noon - 3_600_000), sayMoment(noon, noon - 86_400_000)]).toEqual([
      '12:05',
      '2026-11-30 12:05',
    ]);
  });
});
