import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { errorCode } from '../base/files.ts';
import { readHeader, type Header, type Seal } from './format.ts';
import type { LedgerEvent, LedgerProblem } from './port.ts';
import { readSegment } from './readSegment.ts';

/** What lies on disk of a run's ledger. */
export interface LedgerReading {
  /** Every event of the whole batches before the first break, in order. */
  readonly events: LedgerEvent[];
  /** What is wrong. A torn tail is normal after a crash and while somebody is appending. */
  readonly problems: LedgerProblem[];
  /** The end of what was read: where the next owner seals. Null when there is no segment yet. */
  readonly last: Seal | null;
  /** The highest fence that has a segment; 0 without any. */
  readonly newestFence: number;
  /** The bytes of a write that was never completed, to be set aside by the next owner. */
  readonly torn?: { readonly fence: number; readonly bytes: Buffer };
}

/** The segment that the owner with this fence writes. */
export const segmentName = (fence: number): string => `ledger-${fence}.jsonl`;

/**
 * Reads a run's ledger. Never throws for what is on the disk, never waits, takes no lock: safe while an owner appends (an unfinished
 * batch shows as a torn tail). A folder that doesn't exist is an empty ledger.
 */
export function readLedger(dir: string): LedgerReading {
  for (let attempt = 1; ; attempt += 1) {
    const fences = listFences(dir);
    if (typeof fences === 'string')
      return { events: [], problems: [problemOf(dir, 0, 'unreadable', fences)], last: null, newestFence: 0 };
    const reading = readSegments(dir, fences);
    // a new owner may have sealed an old segment while it was being read; what lies beyond that seal must not be taken for the ledger
    if (attempt === 5 || listFences(dir).at(-1) === fences.at(-1)) return reading;
  }
}

interface Segment {
  readonly file: string;
  readonly bytes: Buffer;
  readonly header: Header;
  readonly headerBytes: number;
  readonly headerHash: string;
}

function readSegments(dir: string, fences: readonly number[]): LedgerReading {
  const { chain, problems, torn } = followSeals(dir, fences);
  const reading = readChain(chain, problems);
  const tornBytes = reading.torn ?? torn;
  return {
    events: reading.events,
    problems,
    last: reading.last,
    newestFence: fences.at(-1) ?? 0,
    ...(tornBytes && { torn: tornBytes }),
  };
}

/** The fences that have a segment, in order; or why they can't be listed. */
function listFences(dir: string): readonly number[] | string {
  try {
    const numbers = readdirSync(dir).flatMap((name) => /^ledger-(\d{1,15})\.jsonl$/.exec(name)?.[1] ?? []);
    return numbers.map(Number).sort((a, b) => a - b);
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? [] : String(error);
  }
}

function problemOf(
  file: string,
  line: number,
  reason: Exclude<LedgerProblem['reason'], 'torn_tail'>,
  detail: string,
): LedgerProblem {
  return { file, line, reason, detail, fatal: true };
}

interface Chain {
  /** Oldest first. */
  readonly chain: readonly Segment[];
  readonly problems: LedgerProblem[];
  readonly torn?: LedgerReading['torn'];
}

/**
 * From the newest segment back along the seals. A segment that no later one seals was made by an owner that had been
 * replaced before it could use it; nothing in it was ever told to anybody, so it isn't the ledger's.
 */
function followSeals(dir: string, fences: readonly number[]): Chain {
  const problems: LedgerProblem[] = [];
  let torn: LedgerReading['torn'];
  let chain: Segment[] = [];
  let rest = [...fences];
  let wanted: number | undefined;
  while (wanted !== undefined || rest.length > 0) {
    const fence: number = wanted ?? (rest.at(-1) as number);
    rest = rest.filter((other) => other < fence);
    const opened = openSegment(join(dir, segmentName(fence)), fence);
    if ('header' in opened) {
      chain.unshift(opened);
      if (opened.header.seals === null) break;
      wanted = opened.header.seals.fence;
      continue;
    }
    // what follows a segment that can't be read isn't read either: reading gives what is before the break
    problems.push(opened.problem);
    if (!opened.problem.fatal && opened.bytes) torn ??= { fence, bytes: opened.bytes };
    [chain, wanted] = [[], undefined];
  }
  return { chain, problems, ...(torn && { torn }) };
}

function openSegment(file: string, fence: number): Segment | { problem: LedgerProblem; bytes?: Buffer } {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const missing = errorCode(error) === 'ENOENT';
    return {
      problem: problemOf(
        file,
        0,
        'unreadable',
        missing ? 'the segment is missing, but a later one continues it' : String(error),
      ),
    };
  }
  const headerBytes = bytes.indexOf(10) + 1;
  if (headerBytes === 0) {
    const detail = 'the segment was never completely created';
    return { problem: { file, line: 1, reason: 'torn_tail', detail, fatal: false }, bytes };
  }
  const reading = readHeader(bytes.toString('utf8', 0, headerBytes - 1));
  if (reading.kind === 'newer')
    return {
      problem: problemOf(
        file,
        1,
        'newer_version',
        `it has format ${reading.v}, which a newer HMA wrote; this one can't continue it`,
      ),
    };
  if (reading.kind === 'broken' || reading.header.fence !== fence || (reading.header.seals?.fence ?? 0) >= fence)
    return { problem: problemOf(file, 1, 'broken_chain', 'the first line was changed') };
  return { file, bytes, header: reading.header, headerBytes, headerHash: reading.hash };
}

/** Reads the segments in order, each up to the seal in the next one; stops at the first break. */
function readChain(
  chain: readonly Segment[],
  problems: LedgerProblem[],
): Pick<LedgerReading, 'events' | 'last' | 'torn'> {
  let events: LedgerEvent[] = [];
  let last: Seal | null = null;
  for (const [index, segment] of chain.entries()) {
    const seal = chain[index + 1]?.header.seals ?? undefined;
    const bytes = seal === undefined ? segment.bytes : segment.bytes.subarray(0, seal.bytes);
    const { file, headerBytes, headerHash } = segment;
    const reading = readSegment({
      file,
      bytes,
      fence: segment.header.fence,
      headerBytes,
      headerHash,
      lastSeq: last?.lastSeq ?? 0,
      sealed: seal !== undefined,
    });
    events = events.length === 0 ? [...reading.events] : events.concat(reading.events);
    last = reading.end;
    if (reading.problem !== undefined) {
      problems.push(reading.problem);
      if (reading.problem.fatal) break;
      return {
        events,
        last,
        torn: { fence: segment.header.fence, bytes: Buffer.from(bytes.subarray(reading.end.bytes)) },
      };
    }
    if (seal !== undefined && !sameSeal(seal, reading.end)) {
      problems.push(
        problemOf(
          file,
          0,
          'bad_seal',
          `it ends at ${reading.end.bytes} bytes with event ${reading.end.lastSeq}; the next segment sealed it at ${seal.bytes} bytes with event ${seal.lastSeq}`,
        ),
      );
      break;
    }
  }
  return { events, last };
}

const sameSeal = (a: Seal, b: Seal): boolean =>
  a.fence === b.fence && a.bytes === b.bytes && a.hash === b.hash && a.lastSeq === b.lastSeq;
