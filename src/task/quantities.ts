/** One or more numbers with a unit: `6h`, `15m`, `90s`, `1h30m`, `1.5h`, `2d`, `250ms`. */
export const durationPattern = /^(?:\d+(?:\.\d+)?(?:ms|d|h|m|s) ?)+$/;

/** A number with a unit of bytes: `2GB` (10⁹), `64 MiB` (2²⁰), `512B`. */
export const sizePattern = /^\d+(?:\.\d+)? ?(?:B|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$/;

/** A number of tokens: `5M` (10⁶), `200k` (10³), `1.5B` (10⁹). */
export const tokensPattern = /^\d+(?:\.\d+)? ?[kMB]$/;

/** No duration of a contract is longer: a year, in ms. */
export const longestDurationMs = 365 * 86_400_000;

const durationUnits: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const sizeUnits: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/**
 * A duration as people write it, in whole milliseconds. A bare number means seconds. Undefined when it is none, negative,
 * or longer than a year.
 */
export function parseDuration(value: number | string): number | undefined {
  const ms = typeof value === 'number' ? value * 1_000 : sumOfParts(value);
  return ms !== undefined && ms >= 0 && ms <= longestDurationMs ? Math.round(ms) : undefined;
}

function sumOfParts(text: string): number | undefined {
  if (!durationPattern.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|d|h|m|s)/g))
    ms += Number(amount) * durationUnits[unit!]!;
  return ms;
}

/** A size as people write it, in whole bytes. A bare number means bytes. Undefined when it is none or not a safe integer. */
export function parseSize(value: number | string): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (!sizePattern.test(value)) return undefined;
  const [, amount, unit] = /^([\d.]+) ?([A-Za-z]+)$/.exec(value)!;
  const bytes = Math.round(Number(amount) * sizeUnits[unit!]!);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

const tokenUnits: Readonly<Record<string, number>> = { k: 1e3, M: 1e6, B: 1e9 };

/** A number of tokens as people write it. Undefined when it is none or not a safe integer. */
export function parseTokens(value: number | string): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  if (/^\d+$/.test(value)) return parseTokens(Number(value));
  if (!tokensPattern.test(value)) return undefined;
  const [, amount, unit] = /^([\d.]+) ?([kMB])$/.exec(value)!;
  const tokens = Math.round(Number(amount) * tokenUnits[unit!]!);
  return Number.isSafeInteger(tokens) ? tokens : undefined;
}

/** A date and time of day in ISO 8601; without a zone it is the machine's local time. */
export const dateTimePattern = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,3})?)?(Z|[+-]\d\d:?\d\d)?$/;

/** Unix time in ms of an ISO date-time, or undefined when it is none or names a day that doesn't exist (30 February). */
export function parseDateTime(text: string): number | undefined {
  const parts = dateTimePattern.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour] = parts.map(Number);
  if (month! < 1 || month! > 12 || day! < 1 || day! > new Date(Date.UTC(year!, month, 0)).getUTCDate() || hour! > 23)
    return undefined;
  const zone = parts[7]?.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2') ?? '';
  const wall = Date.parse(text.replace(' ', 'T').replace(/(Z|[+-]\d\d:?\d\d)$/, '') + zone);
  return Number.isNaN(wall) ? undefined : wall;
}

/** A duration for messages: `6 h`, `1 h 30 min`, `45 s`. */
export function sayDuration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  const parts: [number, string][] = [
    [Math.floor(ms / 3_600_000), 'h'],
    [Math.floor((ms % 3_600_000) / 60_000), 'min'],
    [Math.round((ms % 60_000) / 1_000), 's'],
  ];
  return parts
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ');
}
