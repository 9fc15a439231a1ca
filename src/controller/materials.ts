import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { explorationPrompt, reviewPrompt, type CandidateView } from '../agents/prompts.ts';
import { standing } from '../archive/order.ts';
import { authorName } from '../archive/origin.ts';
import type { Candidate } from '../archive/model.ts';
import { errorCode, writeFileAtomic } from '../base/files.ts';
import type { Option, SessionName } from '../options/model.ts';
import type { AgentArchive, AgentCandidate } from '../protocol/agent.ts';
import type { Review } from '../review/model.ts';
import type { RunState } from '../run/model.ts';
import { explorationEndsAt, reviewerEndsAt } from '../run/schedule.ts';
import type { AgentSlot } from '../task/model.ts';
import { crashAt } from './crashPoints.ts';
import type { Room } from './room.ts';
import { keepPrompt, SessionFolder } from './sessionFolders.ts';

/** Files of candidates up to this size are laid out for the reviewer; larger ones can be had with `hma archive get`, bytes. */
const laidOutBytes = 1024 * 1024;
/** All that is laid out of one candidate, bytes. */
const laidOutInAll = 32 * 1024 * 1024;

const viewOf = (state: RunState, reader: AgentSlot, candidate: Candidate): CandidateView => ({
  id: candidate.id,
  author: candidate.author === reader ? 'you' : 'peer',
  option: candidate.option,
  ...(candidate.origin === undefined ? {} : { earlier: true }),
  score: candidate.score,
  ...(candidate.reported === null ? {} : { reported: candidate.reported }),
  ...(candidate.note === null ? {} : { note: candidate.note }),
});

/** The archive as one agent may know it: authors as you and peer, scores only where the task shows them. */
export function archiveFor(state: RunState, reader: AgentSlot | null): AgentArchive {
  const { metric, feedback } = state.terms;
  const candidates = state.archive.map((candidate): AgentCandidate => {
    const { id, order, option, reported, note, files, bytes } = candidate;
    const author = reader === null || candidate.author === reader ? 'you' : 'peer';
    return {
      id,
      order,
      author,
      option,
      ...(candidate.origin === undefined ? {} : { run: candidate.origin.run }),
      ...(feedback === 'score' ? { score: candidate.score } : {}),
      reported,
      note,
      files,
      bytes,
    };
  });
  return {
    metric: { name: metric.name, direction: metric.direction },
    feedback,
    standing: standing(state.archive)?.id ?? null,
    candidates,
  };
}

/** Writes a session's prompt where the session can read it, and returns it. */
export function writeSessionPrompt(room: Room, name: SessionName, session: Option | Review): string {
  const folder = new SessionFolder(room.files.sessions, name);
  const { state } = room.recorder;
  const given = room.recorder.given();
  const reader = 'reviewer' in session ? session.reviewer : session.agent;
  const last = standing(state.archive);
  const before = 'number' in session ? state.options[session.number - 2] : state.options.at(-1);
  const filled =
    name.kind === 'review'
      ? reviewPrompt({
          contract: room.contract,
          workspace: room.workspace,
          candidatesFolder: join(folder.scratch, 'candidates'),
          ballotFile: folder.ballot,
          leftMs: reviewerEndsAt(state, given) - given.active,
          ballot: state.archive.map((candidate) => viewOf(state, reader, candidate)),
        })
      : explorationPrompt({
          contract: room.contract,
          workspace: room.workspace,
          leftMs: explorationEndsAt(state, given) - given.active,
          standing: last ? viewOf(state, reader, last) : null,
          archived: state.archive.length,
          ended: before?.ended ?? [],
        });
  if (!filled.ok) throw new Error(`the ${name.kind} prompt can't be filled in: ${JSON.stringify(filled.refusal)}`);
  keepPrompt(folder, filled.value);
  return filled.value;
}

/** Lays the reviewer's working folder out: listing, small files of every candidate. Safe to repeat. */
export async function layOutReview(room: Room, reviewer: AgentSlot): Promise<void> {
  const folder = new SessionFolder(room.files.sessions, { kind: 'review' });
  mkdirSync(folder.scratch, { recursive: true, mode: 0o755 });
  const { state } = room.recorder;
  writeFileAtomic(
    join(folder.scratch, 'candidates.json'),
    `${JSON.stringify(archiveFor(state, reviewer), null, 2)}\n`,
    0o644,
  );
  for (const candidate of state.archive) {
    const target = join(folder.scratch, 'candidates', candidate.id);
    if (existsSync(target)) rmSync(target, { recursive: true, force: true });
    let total = 0;
    const entries = await room.snapshots.entries(candidate.snapshot);
    const small = entries.filter(({ bytes }) => bytes <= laidOutBytes && (total += bytes) <= laidOutInAll);
    await room.snapshots.restore(candidate.snapshot, target, { only: small.map(({ path }) => path) });
    const left = entries.filter((entry) => !small.includes(entry));
    if (left.length > 0) {
      const lines = left.map(
        ({ path, bytes }) => `${path} (${bytes} bytes): hma archive get ${candidate.id} ${JSON.stringify(path)}`,
      );
      writeFileSync(join(folder.scratch, 'candidates', `${candidate.id}.larger-files.txt`), `${lines.join('\n')}\n`);
    }
  }
}

/** The ballot as it lies there now; null when there is none. Never follows a link, never waits on a FIFO, never reads much. */
export function readBallotFile(path: string): string | null {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!fstatSync(file).isFile()) return null;
    const buffer = Buffer.alloc(65_536);
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0)).toString('utf8');
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENXIO', 'EACCES', 'EISDIR', 'ENOTDIR'].includes(errorCode(error) ?? '')) return null;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Reads a ballot's text as JSON; what is none is an invalid ballot, not an error. */
export function parseBallot(text: string): { candidate: unknown; reason: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return { candidate: null, reason: null };
    return {
      candidate: 'candidate' in value ? value.candidate : null,
      reason: 'reason' in value ? value.reason : null,
    };
  } catch {
    return { candidate: null, reason: null };
  }
}

/** Rebuilds the listing of the archive in the workspace, which sessions read. Blind tasks show no scores. */
export function writeListing(room: Room): void {
  const folder = join(room.workspace, '.hma');
  const { state } = room.recorder;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    const archive = archiveFor(state, null);
    const names = new Map(state.archive.map((each) => [each.id, authorName(each, state.terms.agents)]));
    const candidates = archive.candidates.map(({ author: _, ...candidate }) => ({
      ...candidate,
      author: names.get(candidate.id),
    }));
    writeFileAtomic(join(folder, 'archive.json'), `${JSON.stringify({ ...archive, candidates }, null, 2)}\n`, 0o644);
    writeFileAtomic(join(folder, 'archive.md'), listingText(archive, names), 0o644);
    crashAt('listing.written');
  } catch (error) {
    room.log(`the listing in ${folder} could not be written: ${String(error)}`);
  }
}

function listingText(archive: AgentArchive, names: ReadonlyMap<string, string>): string {
  const shown = archive.feedback === 'score' ? 'score' : 'reported by its author';
  const rows = archive.candidates.map((c) => {
    const value = archive.feedback === 'score' ? c.score : c.reported;
    return `| ${c.id}${c.id === archive.standing ? ' (standing)' : ''} | ${c.option}${c.run === undefined ? '' : ` of run ${c.run}`} | ${names.get(c.id) ?? ''} | ${value ?? '—'} | ${(c.note ?? '').replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')} |`;
  });
  return [
    `# Archive`,
    '',
    `Metric: ${archive.metric.name}, ${archive.metric.direction}. Files of a candidate: \`hma archive get ID [PATH]\`.`,
    '',
    `| candidate | option | author | ${shown} | note |`,
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
