import { instantOf, localTimeAt, ownZone, zoneNamed, type LocalTime, type Zone } from './zonedTime.ts';

/** Against what a reset is read. */
export interface ResetGiven {
  /** Unix ms at which the text was printed: "in 5 minutes" and "3pm" are meant from here. */
  readonly wall: number;
  /** Where a time without a zone is meant; default: this process's. */
  readonly zone?: Zone;
}

const secondMs = 1000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A time of day that has just passed is meant as that, not as tomorrow's: the text is a little older than its reading, ms. */
const justPassedMs = 5 * minuteMs;
/** Nothing resets later than that; a larger number is no time, ms. */
const farthestMs = 400 * dayMs;

/**
 * When a limit is over, as a harness or a provider told it; Unix ms, null = not told. Reads, in this order: words ("resets 3pm
 * (Europe/Berlin)", "try again in 2h 5m", "try again at Dec 4th, 2026 3:05 PM", "limit reached|1764550800"), fields of errors
 * (`resets_at`, `resets_in_seconds`, `retryDelay`), Retry-After (seconds or an HTTP date), and printed headers
 * `anthropic-ratelimit-*-reset` and `x-ratelimit-reset*`, of which the latest counts. Of several words the last ones count. The result
 * may lie shortly before `wall`: the limit is over. Pure.
 */
export function resetTimeOf(text: string, given: ResetGiven): number | null {
  const plain = text.replaceAll('\\/', '/').replaceAll('\\"', '"');
  const found =
    fromWords(plain, given) ?? fromFields(plain, given) ?? fromRetryAfter(plain, given) ?? fromHeaders(plain, given);
  return found !== null && found > given.wall - farthestMs && found < given.wall + farthestMs
    ? Math.round(found)
    : null;
}

const trigger =
  /(?:(?<![-_])\b(?:resets?|resetting|try again|retry|retrying|renews?|available again|refreshes|please wait)\b:?|\|)[\s·∙,]*(?:(?:will|be|is|on|at|in|after|until|about|approximately|for|next)\b\s*|~\s*)*/giu;

function fromWords(text: string, given: ResetGiven): number | null {
  let found: number | null = null;
  for (const match of text.matchAll(trigger)) {
    const rest = text.slice(match.index + match[0].length, match.index + match[0].length + 96);
    found = (match[0].startsWith('|') ? unixAt(rest) : readMoment(rest, given)) ?? found;
  }
  return found;
}

/** What stands at the beginning of a text: a duration from now on, an ISO date, Unix time, or a day and time of day. */
function readMoment(text: string, given: ResetGiven): number | null {
  const duration = durationAt(text);
  if (duration !== null) return given.wall + duration;
  return isoAt(text, given) ?? unixAt(text) ?? dayAndTimeAt(text, given);
}

/** Unix time in seconds (10 digits) or ms (13). */
function unixAt(text: string): number | null {
  const match = /^(\d{13}|\d{10})(?!\d|\.\d)/u.exec(text.trimStart());
  return match?.[1] === undefined ? null : Number(match[1]) * (match[1].length === 10 ? secondMs : 1);
}

const unit = '(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)';
const durationPart = new RegExp(`^(?:,?\\s*(?:and\\s+)?)?(\\d+(?:\\.\\d+)?|an?(?=\\s))\\s*${unit}(?![a-z])`, 'iu');

const unitMs = (name: string): number => {
  const lower = name.toLowerCase();
  if (lower.startsWith('ms') || lower.startsWith('milli')) return 1;
  const sizes: Readonly<Record<string, number>> = { s: secondMs, m: minuteMs, h: hourMs, d: dayMs, w: 7 * dayMs };
  return sizes[lower.slice(0, 1)] ?? 0;
};

/** "2h 5m", "3 days 4 hours and 5 minutes", "21h16m42s", "1.5s", "an hour"; ms. */
function durationAt(text: string): number | null {
  let rest = text;
  let sum: number | null = null;
  for (let part = durationPart.exec(rest); part; part = durationPart.exec(rest)) {
    const [whole, count = '', name = ''] = part;
    sum = (sum ?? 0) + (/^a/iu.test(count) ? 1 : Number(count)) * unitMs(name);
    rest = rest.slice(whole.length);
  }
  return sum;
}

const iso =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ,]\s*(?:at\s+)?(\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?\s*(Z\b|[+-]\d{2}:?\d{2})?/u;

function isoAt(text: string, given: ResetGiven): number | null {
  const match = iso.exec(text);
  if (!match) return null;
  const [whole, year, month, day, hour = '0', minute = '0', second = '0', offset] = match;
  const local = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
  };
  const zone = offset === undefined ? zoneAt(text.slice(whole.length), given) : zoneNamed(offset);
  return isReal(local) && zone ? instantOf(local, zone) : null;
}

const isReal = ({ month, day, hour, minute, second }: LocalTime): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 23 && minute <= 59 && second <= 60;

/** The zone behind a time; the default where none stands there, null where one stands that nobody knows. */
function zoneAt(text: string, given: ResetGiven): Zone | null {
  const own = given.zone ?? ownZone();
  const bracketed = /^[\s,]*\(([A-Za-z][\w+-]*(?:\/[\w+-]+)*|[+-]\d{1,2}(?::?\d{2})?)\)/u.exec(text);
  if (bracketed?.[1] !== undefined) return zoneNamed(bracketed[1]);
  const bare = /^\s*([A-Z][a-z]+(?:\/[A-Za-z_+-]+)+|(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?|[A-Z]{3,4})\b/u.exec(text);
  return bare?.[1] === undefined ? own : (zoneNamed(bare[1]) ?? own);
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Which day is meant: by date (with or without a year), by weekday, tomorrow, or none told. */
type Day =
  | { readonly kind: 'date'; readonly month: number; readonly day: number; readonly year: number | null }
  | { readonly kind: 'weekday'; readonly index: number }
  | { readonly kind: 'ahead'; readonly days: number }
  | { readonly kind: 'untold' };

const monthName = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?';
const dayForms: readonly { readonly form: RegExp; readonly read: (match: RegExpExecArray) => Day }[] = [
  {
    form: new RegExp(
      `^(?:(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*,?\\s+)?${monthName}\\s+(\\d{1,2})(?:st|nd|rd|th)?(?!\\d|:|\\s*[ap]m)(?:,?\\s+(\\d{4})(?!\\d|:))?`,
      'iu',
    ),
    read: ([, month = '', day, year]) => dateOf(month, day, year),
  },
  {
    form: new RegExp(
      `^(?:(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*,?\\s+)?(\\d{1,2})(?:st|nd|rd|th)?\\s+${monthName}(?:,?\\s+(\\d{4})(?!\\d|:))?`,
      'iu',
    ),
    read: ([, day, month = '', year]) => dateOf(month, day, year),
  },
  {
    form: /^(sun|mon|tue|wed|thu|fri|sat)[a-z]*\b/iu,
    read: ([, name = '']) => ({ kind: 'weekday', index: weekdays.indexOf(name.toLowerCase()) }),
  },
  { form: /^tomorrow\b/iu, read: () => ({ kind: 'ahead', days: 1 }) },
  { form: /^today\b/iu, read: () => ({ kind: 'ahead', days: 0 }) },
];

const dateOf = (month: string, day: string | undefined, year: string | undefined): Day => ({
  kind: 'date',
  month: months.indexOf(month.toLowerCase()) + 1,
  day: Number(day),
  year: year === undefined ? null : Number(year),
});

/** "Dec 4th, 2026 3:05 PM", "4 Dec 15:05", "Thursday at 9am", "tomorrow at noon", "3pm (Europe/Berlin)". */
function dayAndTimeAt(text: string, given: ResetGiven): number | null {
  let rest = text;
  let day: Day = { kind: 'untold' };
  for (const { form, read } of dayForms) {
    const match = form.exec(rest);
    if (!match) continue;
    day = read(match);
    rest = rest.slice(match[0].length).replace(/^\s*,?\s*(?:at\s+)?/iu, '');
    break;
  }
  const time = timeOfDayAt(rest);
  if (time === null && day.kind === 'untold') return null;
  const zone = zoneAt(rest.slice(time?.length ?? 0), given);
  if (!zone || (day.kind === 'date' && (day.day < 1 || day.day > 31))) return null;
  return firstMeant(day, time ?? { hour: 0, minute: 0, second: 0 }, { wall: given.wall, zone });
}

interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

function timeOfDayAt(text: string): (TimeOfDay & { readonly length: number }) | null {
  const word = /^(noon|midnight)\b/iu.exec(text);
  if (word) return { hour: word[1]?.toLowerCase() === 'noon' ? 12 : 0, minute: 0, second: 0, length: word[0].length };
  const match = /^(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?(?:\s*([ap])\.?m\b\.?)?/iu.exec(text);
  if (!match || (match[2] === undefined && match[4] === undefined)) return null;
  const half = match[4]?.toLowerCase();
  const shown = Number(match[1]);
  if (half === undefined ? shown > 23 : shown < 1 || shown > 12) return null;
  const hour = half === undefined ? shown : (shown % 12) + (half === 'p' ? 12 : 0);
  const [minute, second] = [Number(match[2] ?? 0), Number(match[3] ?? 0)];
  return minute > 59 || second > 59 ? null : { hour, minute, second, length: match[0].length };
}

/** The first instant, from just before now on, that a day and a time of day can mean. */
function firstMeant(day: Day, time: TimeOfDay, given: { wall: number; zone: Zone }): number {
  const { wall, zone } = given;
  const today = localTimeAt(wall, zone);
  const onDay = (ahead: number): number => instantOf({ ...today, ...time, day: today.day + ahead }, zone);
  switch (day.kind) {
    case 'date': {
      const inYear = (year: number): number => instantOf({ year, month: day.month, day: day.day, ...time }, zone);
      if (day.year !== null) return inYear(day.year);
      // around New Year the nearer one is meant, before or behind
      const years = [today.year - 1, today.year, today.year + 1].map(inYear);
      return years.toSorted((one, other) => Math.abs(one - wall) - Math.abs(other - wall))[0] ?? wall;
    }
    case 'weekday': {
      const now = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay();
      const ahead = (day.index - now + 7) % 7;
      return onDay(ahead) >= wall - justPassedMs ? onDay(ahead) : onDay(ahead + 7);
    }
    case 'ahead':
      return onDay(day.days);
    case 'untold': {
      // just after midnight, yesterday's 23:59 has just passed
      return [onDay(-1), onDay(0)].find((at) => at >= wall - justPassedMs) ?? onDay(1);
    }
  }
}

const separator = `["']?\\s*[:=,]\\s*["']?`;
const fields: readonly { readonly form: RegExp; readonly read: (value: string, given: ResetGiven) => number | null }[] =
  [
    { form: new RegExp(`\\bresets?_?(?:at|time)${separator}([^"'}\\s][^"'}\\n]*)`, 'giu'), read: momentOrUnix },
    {
      form: new RegExp(`\\bresets?_?in_?(?:seconds|secs?)?${separator}(\\d+(?:\\.\\d+)?)`, 'giu'),
      read: (value, { wall }) => wall + Number(value) * secondMs,
    },
    {
      form: new RegExp(`\\bretry_?delay${separator}(\\d[\\w.]*)`, 'giu'),
      read: (value, { wall }) => inMs(durationAt(value), wall),
    },
  ];

const inMs = (ms: number | null, wall: number): number | null => (ms === null ? null : wall + ms);

/** A header's or field's value: Unix time, a bare number of seconds, a duration, an ISO or an HTTP date. */
function momentOrUnix(value: string, given: ResetGiven): number | null {
  const unix = unixAt(value);
  if (unix !== null) return unix;
  const seconds = /^\d+(?:\.\d+)?(?![\w.:-])/u.exec(value);
  if (seconds) return given.wall + Number(seconds[0]) * secondMs;
  return httpDateAt(value) ?? inMs(durationAt(value), given.wall) ?? isoAt(value, given);
}

function httpDateAt(value: string): number | null {
  const match = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT/u.exec(value);
  const at = match ? Date.parse(match[0]) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

function fromFields(text: string, given: ResetGiven): number | null {
  for (const { form, read } of fields) {
    const values = [...text.matchAll(form)].map(([, value = '']) => read(value, given));
    const last = values.findLast((at) => at !== null);
    if (last !== undefined && last !== null) return last;
  }
  return null;
}

const retryAfterMs = new RegExp(`retry[-_]after[-_]ms${separator}(\\d+)`, 'giu');
const retryAfter = new RegExp(`retry[-_]?after${separator}([^"'\\]}\\n]+)`, 'giu');

function fromRetryAfter(text: string, given: ResetGiven): number | null {
  const inExactMs = [...text.matchAll(retryAfterMs)].at(-1)?.[1];
  if (inExactMs !== undefined) return given.wall + Number(inExactMs);
  const values = [...text.matchAll(retryAfter)].map(([, value = '']) => momentOrUnix(value, given));
  return values.findLast((at) => at !== null) ?? null;
}

const headers = new RegExp(
  `(?:anthropic-ratelimit-[a-z-]+-reset|x-ratelimit-reset(?:-[a-z-]+)?)${separator}([^"'\\]}\\n]+)`,
  'giu',
);

/** Each kind of limit has its header, and the text doesn't say which one was hit: after the latest all are over. */
function fromHeaders(text: string, given: ResetGiven): number | null {
  const values = [...text.matchAll(headers)].map(([, value = '']) => momentOrUnix(value, given));
  const told = values.filter((at) => at !== null);
  return told.length > 0 ? Math.max(...told) : null;
}
