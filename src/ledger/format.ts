import { hash } from 'node:crypto';

import type { LedgerEvent } from './port.ts';

/*
 * A segment is JSON lines. The first is its header, every other one an event:
 *
 *   {"format":"hma-ledger","v":1,"fence":2,"seals":{"fence":1,"bytes":812,"hash":"…","lastSeq":4},"hash":"…"}
 *   {"seq":5,"end":6,"v":1,"wall":…,"mono":…,"active":…,"type":"…","data":{…},"hash":"…"}
 *
 * `hash` is the SHA-256 of the line before's hash followed by this line up to `,"hash"`. So each line vouches for itself and for all before
 * it, the last one too, which a chain of "hash of the line before" would leave unguarded. A header's "line before" is the seal's hash.
 * `end` is the last seq of the batch that the line was appended with: a batch counts only when its last line is there.
 */

/** The version of the file format that this program writes, and the newest that it reads. */
export const ledgerFormat = 1;

/** The hash before the first line of the first segment. */
export const firstHash = '0'.repeat(64);

/** A point in the ledger at the end of a whole batch: everything up to it is the ledger, whatever else lies in that segment. */
export interface Seal {
  readonly fence: number;
  /** Length of the segment up to here. */
  readonly bytes: number;
  /** Hash of the last line up to here. */
  readonly hash: string;
  /** Seq of the last event up to here; 0 when there is none. */
  readonly lastSeq: number;
}

/** The first line of a segment. */
export interface Header {
  readonly v: number;
  readonly fence: number;
  /** Where the segment before ends; null in the first segment. */
  readonly seals: Seal | null;
}

/** An event and the last seq of its batch. */
export interface EventLine {
  readonly event: LedgerEvent;
  readonly end: number;
}

const trailerLength = ',"hash":""}'.length + 64;

const chainHash = (previous: string, body: string): string => hash('sha256', previous + body);

/** Writes a record as a line (without its newline) that follows the line with hash `previous`. */
export function sealLine(record: object, previous: string): { line: string; hash: string } {
  const body = JSON.stringify(record).slice(0, -1);
  const own = chainHash(previous, body);
  return { line: `${body},"hash":"${own}"}`, hash: own };
}

/** The hash of a line, if it is intact and follows the line with hash `previous`; else undefined. */
export function checkLine(line: string, previous: string): string | undefined {
  const body = line.slice(0, -trailerLength);
  const own = chainHash(previous, body);
  return line.slice(body.length) === `,"hash":"${own}"}` ? own : undefined;
}

/** The JSON object on a line, or undefined. */
export function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** The event on a parsed line, or undefined. Checked by hand, not with zod: the chain vouches for the bytes, and a replay reads 100,000 of them. */
export function asEventLine(value: Record<string, unknown>): EventLine | undefined {
  const { seq, end, v, wall, mono, active, type, data } = value;
  if (!isCount(seq) || !isCount(end) || end < seq || !isCount(v) || typeof type !== 'string') return undefined;
  if (!Number.isFinite(wall) || !Number.isFinite(mono) || !Number.isFinite(active)) return undefined;
  return { event: { seq, v, wall: wall as number, mono: mono as number, active: active as number, type, data }, end };
}

function asSeal(value: unknown): Seal | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { fence, bytes, hash: sealed, lastSeq } = value as Record<string, unknown>;
  if (!isCount(fence) || !isCount(bytes) || !isCount(lastSeq) || typeof sealed !== 'string') return undefined;
  return { fence, bytes, hash: sealed, lastSeq };
}

/** What a segment's first line says. `hash` is undefined when the line isn't intact; a newer version is told apart before anything else of it is believed. */
export type HeaderReading =
  | { readonly kind: 'header'; readonly header: Header; readonly hash: string }
  | { readonly kind: 'newer'; readonly v: number }
  | { readonly kind: 'broken' };

/** Reads a segment's first line. */
export function readHeader(line: string): HeaderReading {
  const value = parseObject(line);
  if (value === undefined || value['format'] !== 'hma-ledger' || !isCount(value['v'])) return { kind: 'broken' };
  if (value['v'] > ledgerFormat) return { kind: 'newer', v: value['v'] };
  const seals = value['seals'] === null ? null : asSeal(value['seals']);
  if (seals === undefined || !isCount(value['fence'])) return { kind: 'broken' };
  const own = checkLine(line, seals?.hash ?? firstHash);
  return own === undefined
    ? { kind: 'broken' }
    : { kind: 'header', header: { v: value['v'], fence: value['fence'], seals }, hash: own };
}

/** The first line of a new segment. */
export function headerLine(fence: number, seals: Seal | null): { line: string; hash: string } {
  return sealLine({ format: 'hma-ledger', v: ledgerFormat, fence, seals }, seals?.hash ?? firstHash);
}
