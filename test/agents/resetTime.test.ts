import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { resetTimeOf } from '../../src/agents/resetTime.ts';
import { instantOf, localTimeAt, zoneNamed } from '../../src/agents/zonedTime.ts';

const at = (text: string): number => Date.parse(text);
/** Monday, 30 November 2026, 14:00 in Berlin. */
const wall = at('2026-11-30T13:00:00Z');
const berlin = { name: 'Europe/Berlin' };
const read = (text: string, now = wall): string | null => {
  const found = resetTimeOf(text, { wall: now, zone: berlin });
  return found === null ? null : new Date(found).toISOString();
};

describe('when a limit resets', () => {
  test.each([
    // words of Claude Code
    ["You've hit your limit · resets 3pm (Europe/Berlin)", '2026-11-30T14:00:00.000Z'],
    ['5-hour limit reached ∙ resets 3pm', '2026-11-30T14:00:00.000Z'],
    ['5-hour limit reached ∙ resets 1pm', '2026-12-01T12:00:00.000Z'],
    ['Claude AI usage limit reached|1796050800', '2026-11-30T15:00:00.000Z'],
    ['Claude AI usage limit reached|1796050800123', '2026-11-30T15:00:00.123Z'],
    ["You've hit your weekly limit · resets Dec 4 at 9am (America/New_York)", '2026-12-04T14:00:00.000Z'],
    ['Opus weekly limit reached ∙ resets Dec 4, 9:30am', '2026-12-04T08:30:00.000Z'],
    ['Your limit will reset at 3:30 PM (UTC)', '2026-11-30T15:30:00.000Z'],
    ['"text":"You\'ve hit your limit · resets 3pm (Europe\\/Berlin)"', '2026-11-30T14:00:00.000Z'],
    // words of Codex
    ["You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.", '2026-12-03T17:05:00.000Z'],
    ["You've hit your usage limit. Upgrade to Pro or try again at 3:05 PM.", '2026-11-30T14:05:00.000Z'],
    ['or try again at Dec 4th, 2026 3:05 PM.', '2026-12-04T14:05:00.000Z'],
    ['Rate limit reached for gpt-5. Please try again in 1.898s.', '2026-11-30T13:00:01.898Z'],
    ['Please try again in 28ms.', '2026-11-30T13:00:00.028Z'],
    [
      '{"error":{"type":"usage_limit_reached","plan_type":"plus","resets_in_seconds":7500}}',
      '2026-11-30T15:05:00.000Z',
    ],
    ['{"error":{"type":"usage_limit_reached","resets_at":1796050800}}', '2026-11-30T15:00:00.000Z'],
    [
      '"rate_limit_info":{"status":"rejected","resetsAt":1796050800,"rateLimitType":"five_hour"}',
      '2026-11-30T15:00:00.000Z',
    ],
    // words of Gemini and its kin
    ['Your quota will reset after 21h16m42s.', '2026-12-01T10:16:42.000Z'],
    ['Please retry in 33.5s.', '2026-11-30T13:00:33.500Z'],
    ['{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"33s"}', '2026-11-30T13:00:33.000Z'],
    // others
    ['resets at 15:30 (Europe/Berlin)', '2026-11-30T14:30:00.000Z'],
    ['resets at 15:30', '2026-11-30T14:30:00.000Z'],
    ['resets 15:30 UTC', '2026-11-30T15:30:00.000Z'],
    ['resets at 15:30 UTC+2', '2026-11-30T13:30:00.000Z'],
    ['resets at 15:30 PDT', '2026-11-30T22:30:00.000Z'],
    ['try again in 2h 5m', '2026-11-30T15:05:00.000Z'],
    ['try again in 2 hours and 5 minutes', '2026-11-30T15:05:00.000Z'],
    ['try again in about an hour', '2026-11-30T14:00:00.000Z'],
    ['resets at 2026-12-01T15:00:00Z', '2026-12-01T15:00:00.000Z'],
    ['resets at 2026-12-01T15:00:00.250+05:30', '2026-12-01T09:30:00.000Z'],
    ['resets on 2026-12-01 15:00', '2026-12-01T14:00:00.000Z'],
    ['resets on 2026-12-01 15:00 UTC', '2026-12-01T15:00:00.000Z'],
    ['available again tomorrow at 9am', '2026-12-01T08:00:00.000Z'],
    ['resets Thursday at 9:00 AM', '2026-12-03T08:00:00.000Z'],
    ['resets Monday at 1pm', '2026-12-07T12:00:00.000Z'],
    ['resets at noon', '2026-12-01T11:00:00.000Z'],
    ['resets at midnight', '2026-11-30T23:00:00.000Z'],
    ['resets 12am', '2026-11-30T23:00:00.000Z'],
    ['resets on 4 December', '2026-12-03T23:00:00.000Z'],
    ['resets at 1796050800', '2026-11-30T15:00:00.000Z'],
    // headers as printed
    ['retry-after: 120', '2026-11-30T13:02:00.000Z'],
    ["{ 'retry-after': '120', 'x-ratelimit-reset': '300' }", '2026-11-30T13:02:00.000Z'],
    ['"retry-after-ms":"1500","retry-after":"2"', '2026-11-30T13:00:01.500Z'],
    ['Retry-After: Mon, 30 Nov 2026 15:00:00 GMT', '2026-11-30T15:00:00.000Z'],
    ['anthropic-ratelimit-unified-reset: 1796050800', '2026-11-30T15:00:00.000Z'],
    [
      'anthropic-ratelimit-tokens-reset: 2026-11-30T14:30:00Z\nanthropic-ratelimit-requests-reset: 2026-11-30T13:10:00Z',
      '2026-11-30T14:30:00.000Z',
    ],
    ['x-ratelimit-reset-requests: 1s\nx-ratelimit-reset-tokens: 6m0s', '2026-11-30T13:06:00.000Z'],
    ['x-ratelimit-reset: 1796050800', '2026-11-30T15:00:00.000Z'],
    ['x-ratelimit-reset: 90', '2026-11-30T13:01:30.000Z'],
    // the last words count
    ['resets 3pm … resets 4pm', '2026-11-30T15:00:00.000Z'],
    ['Try again in 5s.\nretry-after: 60', '2026-11-30T13:00:05.000Z'],
  ])('%s', (text, expected) => expect(read(text)).toBe(expected));

  test.each([
    'usage limit reached',
    '429 Too Many Requests',
    'Rate limit reached. Please try again later.',
    'resets soon',
    'resets 13pm',
    'resets at 25:00',
    'resets 3pm (Mars/Phobos)',
    'reset 3 files',
    'x-ratelimit-reset: 99999999999',
    'a|12345',
    'the model reset after an error',
    '',
  ])('not told: %s', (text) => expect(read(text)).toBeNull());

  test.each([
    // just passed: over, not tomorrow
    ['resets 3pm', '2026-11-30T14:00:20Z', '2026-11-30T14:00:00.000Z'],
    ['resets 3pm', '2026-11-30T14:06:00Z', '2026-12-01T14:00:00.000Z'],
    ['resets 11:59pm', '2026-11-30T23:01:00Z', '2026-11-30T22:59:00.000Z'],
    // the year's end, in either direction
    ['resets Jan 2 at 3pm', '2026-12-30T10:00:00Z', '2027-01-02T14:00:00.000Z'],
    ['resets Dec 31 at 11pm', '2027-01-01T00:30:00Z', '2026-12-31T22:00:00.000Z'],
    ['resets 1am', '2026-12-31T22:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['resets Feb 29, 9am', '2028-02-28T10:00:00Z', '2028-02-29T08:00:00.000Z'],
    // clocks change: 2:30 does not exist on 28 March 2027, and exists twice on 31 October 2027
    ['resets 2:30am', '2027-03-28T00:00:00Z', '2027-03-28T01:30:00.000Z'],
    ['resets 3:30am', '2027-03-28T00:00:00Z', '2027-03-28T01:30:00.000Z'],
    ['resets 2:30am', '2027-10-30T23:00:00Z', '2027-10-31T01:30:00.000Z'],
    ['resets 3pm', '2027-03-27T20:00:00Z', '2027-03-28T13:00:00.000Z'],
    ['resets 3pm', '2027-10-30T20:00:00Z', '2027-10-31T14:00:00.000Z'],
    // another day there than here
    ['resets 7am (Asia/Tokyo)', '2026-11-30T20:00:00Z', '2026-11-30T22:00:00.000Z'],
    ['resets 11pm (America/Los_Angeles)', '2026-12-01T03:00:00Z', '2026-12-01T07:00:00.000Z'],
  ])('%s, read at %s', (text, now, expected) => expect(read(text, at(now))).toBe(expected));
});

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Asia/Tokyo',
  'America/St_Johns',
];
/** Minutes of the years 2026 and 2027, so that each zone's changes of clocks are among them. */
const minute = fc
  .integer({ min: at('2026-01-01T00:00:00Z') / 60_000, max: at('2027-12-31T00:00:00Z') / 60_000 })
  .map((m) => m * 60_000);

describe('laws', () => {
  test('what a zone shows at an instant leads back to it, or to the second one that shows the same', () => {
    fc.assert(
      fc.property(minute, fc.constantFrom(...zones), (instant, name) => {
        const back = instantOf(localTimeAt(instant, { name }), { name });
        expect(back >= instant && back - instant <= 3_600_000).toBe(true);
        expect(localTimeAt(back, { name })).toEqual(localTimeAt(instant, { name }));
      }),
    );
  });

  test('a time of day as Intl prints it is read as the first such time from then on', () => {
    fc.assert(
      fc.property(minute, fc.integer({ min: 10, max: 20 * 60 }), fc.constantFrom(...zones), (now, ahead, name) => {
        const meant = now + ahead * 60_000;
        const shown = new Intl.DateTimeFormat('en-US', { timeZone: name, hour: 'numeric', minute: '2-digit' }).format(
          meant,
        );
        const found = resetTimeOf(`resets ${shown} (${name})`, { wall: now });
        const said = (instant: number | null): string =>
          instant === null
            ? 'nothing'
            : new Intl.DateTimeFormat('en-US', { timeZone: name, hour: 'numeric', minute: '2-digit' }).format(instant);
        expect(said(found)).toBe(said(meant));
        // the same minute, except where clocks are set back and it comes twice
        expect(Math.abs((found ?? 0) - meant) <= 3_600_000).toBe(true);
      }),
    );
  });

  test('a date and a time as Intl prints them', () => {
    fc.assert(
      fc.property(minute, fc.integer({ min: 0, max: 30 * 24 * 60 }), fc.constantFrom(...zones), (now, ahead, name) => {
        const meant = now + ahead * 60_000;
        const form = new Intl.DateTimeFormat('en-US', {
          timeZone: name,
          month: 'short',
          day: 'numeric',
          hour: 'numeric',
          minute: '2-digit',
        });
        const found = resetTimeOf(`resets ${form.format(meant)} (${name})`, { wall: now }) ?? 0;
        expect(form.format(found)).toBe(form.format(meant));
        expect(Math.abs(found - meant) <= 3_600_000).toBe(true);
      }),
    );
  });

  test('any text is read without an error, to null or a time within reason', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 60 }),
        fc.constantFrom('resets ', 'try again in ', 'retry-after: ', '|', 'resets_at":'),
        (text, before) => {
          const found = resetTimeOf(before + text, { wall, zone: berlin });
          expect(found === null || Math.abs(found - wall) < 400 * 86_400_000).toBe(true);
        },
      ),
    );
  });

  test('zones by name, abbreviation and offset', () => {
    expect(['Europe/Berlin', 'PDT', 'UTC+2', '+05:30', '-0330', 'Mars/Phobos', '+19'].map(zoneNamed)).toEqual([
      { name: 'Europe/Berlin' },
      { offsetMs: -7 * 3_600_000 },
      { offsetMs: 2 * 3_600_000 },
      { offsetMs: 5.5 * 3_600_000 },
      { offsetMs: -3.5 * 3_600_000 },
      null,
      null,
    ]);
  });
});
