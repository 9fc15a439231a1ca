import { asEventLine, checkLine, parseObject, type Seal } from './format.ts';
import type { LedgerEvent, LedgerProblem } from './port.ts';

/** What one segment gave: the events of its whole batches, where they end, and what is wrong after that. */
export interface SegmentReading {
  readonly events: readonly LedgerEvent[];
  readonly end: Seal;
  readonly problem?: LedgerProblem;
}

/** One segment to read: its name and bytes (up to the seal where it has one), and the end of its header. */
export interface SegmentSource {
  readonly file: string;
  readonly bytes: Buffer;
  readonly fence: number;
  /** End of the header line, its hash, and the last seq of the segment before. */
  readonly headerBytes: number;
  readonly headerHash: string;
  readonly lastSeq: number;
  /** Nothing may be torn in a sealed segment. */
  readonly sealed: boolean;
}

const newline = 10;

type Fault = Pick<LedgerProblem, 'reason' | 'detail'>;

/** Reads events as long as every line is intact, follows the one before, and its batch is whole. */
export function readSegment(source: SegmentSource): SegmentReading {
  const { bytes } = source;
  const events: LedgerEvent[] = [];
  let end: Seal = { fence: source.fence, bytes: source.headerBytes, hash: source.headerHash, lastSeq: source.lastSeq };
  let batch: LedgerEvent[] = [];
  let line = 1;
  let [at, hash, seq, batchEnd] = [end.bytes, end.hash, end.lastSeq, 0];
  const stop = (fault: Fault): SegmentReading => ({
    events,
    end,
    problem: { file: source.file, line: line + 1, ...asTorn(source, end.bytes, at, hash, fault) },
  });
  while (at < bytes.length) {
    const stopAt = bytes.indexOf(newline, at);
    if (stopAt === -1) return stop({ reason: 'unparsable', detail: 'the last line has no end' });
    const text = bytes.toString('utf8', at, stopAt);
    const next = readLine(text, { hash, seq, batchEnd: batch.length === 0 ? undefined : batchEnd });
    if ('reason' in next) return stop(next);
    line += 1;
    [at, hash, seq, batchEnd] = [stopAt + 1, next.hash, next.event.seq, next.end];
    batch.push(next.event);
    if (seq === batchEnd) {
      for (const event of batch) events.push(event);
      batch = [];
      end = { fence: source.fence, bytes: at, hash, lastSeq: seq };
    }
  }
  return batch.length === 0
    ? { events, end }
    : stop({ reason: 'broken_chain', detail: `events ${seq + 1} to ${batchEnd} of a batch are missing` });
}

function readLine(
  text: string,
  after: { hash: string; seq: number; batchEnd: number | undefined },
): Fault | { event: LedgerEvent; end: number; hash: string } {
  const value = parseObject(text);
  const parsed = value === undefined ? undefined : asEventLine(value);
  if (parsed === undefined) return { reason: 'unparsable', detail: 'the line is no event' };
  if (parsed.event.seq !== after.seq + 1)
    return { reason: 'broken_chain', detail: `event ${after.seq + 1} is expected, event ${parsed.event.seq} is here` };
  const hash = checkLine(text, after.hash);
  if (hash === undefined)
    return { reason: 'broken_chain', detail: `event ${parsed.event.seq} or the line before it was changed` };
  if (after.batchEnd !== undefined && parsed.end !== after.batchEnd)
    return { reason: 'broken_chain', detail: `event ${parsed.event.seq} belongs to another batch` };
  return { ...parsed, hash };
}

/** Tells a write that never finished (nobody was ever told of it) from damage to what had been synced. */
function asTorn(
  source: SegmentSource,
  from: number,
  at: number,
  hash: string,
  fault: Fault,
): Pick<LedgerProblem, 'reason' | 'detail' | 'fatal'> {
  const { bytes } = source;
  if (source.sealed || !(isCutOff(bytes, at, hash) || isHalfWritten(bytes.subarray(from))))
    return { ...fault, fatal: true };
  return {
    reason: 'torn_tail',
    detail: `the last ${bytes.length - from} bytes were never completely written`,
    fatal: false,
  };
}

/** The bytes just stop. A line that is intact but for its last byte was complete, so its newline was changed later. */
function isCutOff(bytes: Buffer, at: number, hash: string): boolean {
  if (bytes.indexOf(newline, at) !== -1) return false;
  return checkLine(bytes.toString('utf8', at, bytes.length - 1), hash) === undefined;
}

/** A power loss can leave zeros where a page of the last batch wasn't on disk yet; pages after it may be there. */
function isHalfWritten(tail: Buffer): boolean {
  if (!tail.includes(Buffer.alloc(8))) return false;
  const ends = new Set<unknown>();
  for (const line of tail.toString('utf8').split('\n')) {
    const end = parseObject(line)?.['end'];
    if (end !== undefined) ends.add(end);
  }
  return ends.size <= 1;
}
