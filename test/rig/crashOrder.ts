import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { controllerEffects } from './crashEffects.ts';

/** One system call of a controller's, when it mattered: a sync when it had ended, a message when it began. */
interface Call {
  readonly name: string;
  /** `name(arguments`, with ROOT and RUN for the folders of the test. */
  readonly text: string;
}

/** The calls that a strace file tells, in order, without those that failed. */
export function readCalls(file: string, folders: { root: string; runFolder: string }): Call[] {
  const begun = new Map<string, string>();
  const calls: Call[] = [];
  const short = (text: string): string => text.replaceAll(folders.runFolder, 'RUN').replaceAll(folders.root, 'ROOT');
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, pid = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const resumed = /^<\.\.\. (\w+) resumed>(.*)$/.exec(rest);
    const whole = resumed ? (begun.get(pid) ?? '') + (resumed[2] ?? '') : rest;
    const name = /^(\w+)\(/.exec(whole)?.[1] ?? '';
    const tells = name === 'execve' || /^(write|writev|sendto|sendmsg)\(\d+<UNIX/.test(whole);
    if (rest.endsWith('<unfinished ...>')) begun.set(pid, rest.slice(0, -' <unfinished ...>'.length));
    if (rest.endsWith('<unfinished ...>') ? !tells : resumed !== null && tells) continue;
    if (name === '' || / = -1 E/.test(whole)) continue;
    calls.push({ name, text: short(whole) });
  }
  return calls;
}

/** The strace files of a run's controllers, oldest first by their process ids. */
export const straceFiles = (file: string): string[] =>
  readdirSync(dirname(file))
    .filter((name) => name.startsWith(`${basename(file)}.`))
    .map((name) => join(dirname(file), name));

const ledgerFile = /^\w+\(\d+<RUN\/ledger-\d+\.jsonl>/;
const pointOf = ({ name, text }: Call): string | null =>
  name === 'write' ? (/^write\(\d+<ROOT\/trace>, "([^"]*)\\n"/.exec(text)?.[1] ?? null) : null;
const socketOf = ({ text }: Call): 'agent' | 'client' | null => {
  const path = /^\w+\(\d+<UNIX-STREAM:\[[^\]]*"[^"]*\/([ac])\/[^"]*\.sock"\]>/.exec(text)?.[1];
  return path === undefined ? null : path === 'a' ? 'agent' : 'client';
};
const unquoted = (text: string): string => text.replaceAll('\\"', '"');
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found);

/** What is on disk and synced so far, as the calls tell. */
interface Disk {
  pending: string;
  synced: string;
  readonly events: Set<string>;
  objects: boolean;
  ref: boolean;
}

/**
 * Whether a controller kept the order: objects → ref → event (write and fdatasync) → receipt; and intents before what they announce.
 * Each breach in words; none when all is well. Counts what was looked at, so that a silent trace is no good trace.
 */
export function breaches(calls: readonly Call[]): {
  broken: string[];
  receipts: number;
  events: number;
  spawns: number;
  signals: number;
} {
  const disk: Disk = { pending: '', synced: '', events: new Set(), objects: false, ref: false };
  const seen = { broken: [] as string[], receipts: 0, events: 0, spawns: 0, signals: 0 };
  for (const call of calls) {
    const { name, text } = call;
    if (name === 'fsync' && text.includes('<RUN/snapshots/repo.git/objects/pack>')) disk.objects = true;
    if (name === 'fsync' && text.includes('<RUN/snapshots/repo.git/refs/hma/submission>')) setRef(disk, seen.broken);
    if (ledgerFile.test(text)) written(call, disk, seen);
    if (name === 'execve' || name === 'kill' || ordered.test(text)) acted(call, disk, seen);
    const socket = socketOf(call);
    if (socket === 'agent') answered(unquoted(text), disk, seen);
    if (socket === 'client') published(unquoted(text), disk, seen);
  }
  return seen;
}

type Seen = ReturnType<typeof breaches>;

function setRef(disk: Disk, broken: string[]): void {
  if (!disk.objects) broken.push('a ref was set before its objects were synced');
  disk.objects = false;
  disk.ref = true;
}

function written({ name, text }: Call, disk: Disk, seen: Seen): void {
  if (name === 'pwrite64') {
    const lines = unquoted(text);
    disk.pending += lines;
    if (!lines.includes('"type":"experiment.submitted"')) return;
    if (!disk.ref) seen.broken.push('an experiment was written before the ref of its files was synced');
    disk.ref = false;
  }
  if (name === 'fdatasync') {
    seen.events += all(disk.pending, /"type":"([a-z.A-Z]+)"/g).length;
    for (const seq of all(disk.pending, /"seq":(\d+),"end"/g)) disk.events.add(seq);
    disk.synced += disk.pending;
    disk.pending = '';
  }
}

/** A message to a session: what it tells must be synced. */
function answered(text: string, disk: Disk, seen: Seen): void {
  if (disk.pending !== '')
    seen.broken.push(`a session was answered while an event was not synced: ${text.slice(0, 200)}`);
  for (const id of all(text, /"result":\{"id":"(e\d+)"/g)) {
    seen.receipts += 1;
    if (!disk.synced.includes(`"type":"experiment.submitted","data":{"id":"${id}"`))
      seen.broken.push(`a session was told of ${id} before it was synced`);
    if (
      text.includes('"outcome":"accepted"') &&
      !disk.synced.includes(`"type":"experiment.accepted","data":{"id":"${id}"`)
    )
      seen.broken.push(`a session was told that ${id} is accepted before that was synced`);
  }
}

/** An event to a client. */
function published(text: string, disk: Disk, seen: Seen): void {
  for (const seq of all(text, /"method":"[^"]*","params":\{"seq":(\d+)/g))
    if (!disk.events.has(seq)) seen.broken.push(`a client was told of event ${seq} before it was synced`);
}

/** What a runner that stands by is told. */
const ordered = /^\w+\(\d+<UNIX.*"\{\\"folder\\":\\"RUN\/evaluations\//;

/** A spawn of a runner, the order to one that stood by, or a signal: its intent must be synced. */
function acted({ name, text }: Call, disk: Disk, seen: Seen): void {
  const place =
    /(?:runner\.js", "|"\{\\"folder\\":\\")RUN\/(sessions\/(\w+)(?:-(\d+))?\/attempt-(\d+)|evaluations\/\w+(?:-\w+)?-([0-9a-f]{24}))/.exec(
      text,
    );
  if (name !== 'kill' && place) {
    seen.spawns += 1;
    const [, where, kind, number, attempt, nonce] = place;
    const session = kind === 'review' ? '{"kind":"review"}' : `{"kind":"option","number":${number}}`;
    const intent = nonce ?? `"type":"attempt.starting","data":{"session":${session},"attempt":${attempt}`;
    if (!disk.synced.includes(intent)) seen.broken.push(`${where} was started before its intent was synced`);
  }
  if (name === 'kill' && text.includes('SIGTERM')) {
    seen.signals += 1;
    const last = all(disk.synced, /"type":"((?:option|review)\.(?:ending|reaped)|attempt\.ending)"/g).at(-1);
    if (last === undefined || last.endsWith('reaped'))
      seen.broken.push('a session was signalled before the intent to end it was synced');
  }
}

/** Effects that no row of the list explains, or that lie beside none of the points which the list names. */
export function unlistedEffects(calls: readonly Call[]): string[] {
  const points = calls.map(pointOf);
  const unlisted = new Set<string>();
  const nameOf = (point: string | null | undefined): string => point?.split('@')[0] ?? '';
  calls.forEach((call, at) => {
    if (!['rename', 'renameat', 'renameat2', 'link', 'linkat', 'execve', 'kill', 'tgkill'].includes(call.name)) return;
    if (call.name === 'execve' && call.text.includes('/controller.js"')) return;
    const near = [
      points.slice(0, at).findLast((point) => point !== null),
      points.slice(at + 1).find((point) => point !== null),
    ].map(nameOf);
    const known = controllerEffects.some(
      (effect) => effect.call.test(call.text) && effect.between.some((point) => near.includes(point)),
    );
    if (!known) unlisted.add(`${call.text.slice(0, 220)} (between ${near.join(' and ')})`);
  });
  return [...unlisted];
}
