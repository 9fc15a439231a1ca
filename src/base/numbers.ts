/** A score for people: six significant digits at most, never exponents where they don't help. */
export function sayScore(score: number): string {
  if (!Number.isFinite(score)) return String(score);
  const rounded = Number(score.toPrecision(6));
  return String(rounded).replace('-', '−');
}

/** The change from one score to another in per cent of the first (`−12 %`), or as a difference where the first is 0. */
export function sayChange(from: number, to: number): string {
  const sign = (value: number): string => (value < 0 ? '−' : '+');
  if (from === 0 || !Number.isFinite(from)) return `${sign(to - from)}${sayScore(Math.abs(to - from))}`;
  const percent = (Math.abs(to - from) / Math.abs(from)) * 100;
  const digits = percent >= 10 ? 0 : percent >= 1 ? 1 : 2;
  return percent >= 1e4
    ? `${sign(to - from)}${sayScore(Math.abs(to - from))}`
    : `${sign(to - from)}${percent.toFixed(digits)} %`;
}

/** A point of active runtime: `0:03.2`, `12:41.0`, from an hour on `1:02:33`. */
export function sayClock(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 100));
  const [hours, minutes, seconds, tenths] = [
    Math.floor(total / 36_000),
    Math.floor(total / 600) % 60,
    Math.floor(total / 10) % 60,
    total % 10,
  ];
  const two = (value: number): string => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}.${tenths}`;
}

/** A length of time: `0.41 s`, `12.3 s`, `4 min 10 s`, `1 h 05 min`. */
export function sayLength(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(2)} s`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600)
    return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(ms / 60_000);
  return minutes % 60 === 0
    ? `${minutes / 60} h`
    : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** A share of a whole: `51.1 %`; `—` where there is no whole. */
export const sayShare = (part: number, whole: number): string =>
  whole > 0 ? `${((part / whole) * 100).toFixed(1)} %` : '—';

/** A number of bytes: `812 B`, `1.4 MB`. */
export function sayBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}

/** A number of tokens: `812`, `12.3k`, `4.56M`, `1.20B`. */
export function sayTokens(tokens: number): string {
  for (const [unit, size] of [
    ['B', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ] as const)
    // what would be rounded up to the next unit is said in it
    if (tokens >= size * 0.9995 && tokens >= 1000) return `${(tokens / size).toPrecision(3)}${unit}`;
  return String(Math.round(tokens));
}

/** An amount of US dollars: `$0.0042`, `$1.23`, `$1,234`. */
export function sayMoney(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.995) return `$${usd.toFixed(usd < 0.0995 ? 4 : 2)}`;
  return `$${usd < 999.995 ? usd.toFixed(2) : Math.round(usd).toLocaleString('en-US')}`;
}
