/** A place on the clock: an IANA zone by name, or a fixed distance from UTC in ms. */
export type Zone = { readonly name: string } | { readonly offsetMs: number };

/** A day and a time of day as a person reads them; month 1–12. */
export interface LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const dayMs = 86_400_000;

/** Common abbreviations that are no IANA names (or are read as another offset there), hours from UTC. */
const abbreviations: Readonly<Record<string, number>> = {
  UTC: 0,
  GMT: 0,
  Z: 0,
  PST: -8,
  PDT: -7,
  MST: -7,
  MDT: -6,
  CST: -6,
  CDT: -5,
  EST: -5,
  EDT: -4,
  BST: 1,
  CET: 1,
  CEST: 2,
  JST: 9,
};

/** The zone of a name (`Europe/Berlin`), an abbreviation (`PDT`) or an offset (`UTC+2`, `+05:30`); null = none of these. */
export function zoneNamed(text: string): Zone | null {
  const hours = abbreviations[text.toUpperCase()];
  if (hours !== undefined) return { offsetMs: hours * 3_600_000 };
  const offset = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$/iu.exec(text);
  if (offset) {
    const size = Number(offset[2]) * 60 + Number(offset[3] ?? 0);
    return size > 14 * 60 ? null : { offsetMs: (offset[1] === '-' ? -1 : 1) * size * 60_000 };
  }
  try {
    return { name: new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone };
  } catch {
    return null; // RangeError is how Intl says that it knows no such zone
  }
}

/** The zone this process lives in (TZ, else the machine's). */
export const ownZone = (): Zone => ({ name: new Intl.DateTimeFormat().resolvedOptions().timeZone });

/** What a clock in a zone shows at an instant, Unix ms. */
export function localTimeAt(at: number, zone: Zone): LocalTime {
  const shown = new Date(at + offsetAt(at, zone));
  return {
    year: shown.getUTCFullYear(),
    month: shown.getUTCMonth() + 1,
    day: shown.getUTCDate(),
    hour: shown.getUTCHours(),
    minute: shown.getUTCMinutes(),
    second: shown.getUTCSeconds(),
  };
}

/**
 * The instant (Unix ms) at which a clock in a zone shows a time. A time that is skipped in spring is read with the offset before it, so
 * it lies after the gap; of a time that comes twice in autumn the later one is meant: who waits for it is then surely there.
 * Fields beyond their range roll over, as with `Date.UTC` (day 32 is the next month's first).
 */
export function instantOf(local: LocalTime, zone: Zone): number {
  const asUtc = Date.UTC(local.year, local.month - 1, local.day, local.hour, local.minute, local.second);
  const before = offsetAt(asUtc - dayMs, zone);
  const candidates = [before, offsetAt(asUtc + dayMs, zone)].map((offset) => asUtc - offset);
  const shown = candidates.filter((at) => at + offsetAt(at, zone) === asUtc);
  return shown.length > 0 ? Math.max(...shown) : asUtc - before;
}

/** Distance of a zone's clocks from UTC at an instant, ms. */
function offsetAt(at: number, zone: Zone): number {
  if ('offsetMs' in zone) return zone.offsetMs;
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone.name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((one) => one.type === type)?.value ?? 0);
  const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return shown - Math.floor(at / 1000) * 1000;
}
