import { resolve, join } from 'node:path';

import { oneLine } from '../base/oneLine.ts';
import { agentRequests, sessionExit, type ArchiveReply, type FileReply } from '../protocol/agent.ts';
import type { Words } from './arguments.ts';
import { answerRefused, answerWith, askController, type Ask, type Replied } from './ask.ts';
import { destinationOf, staysBelow, writeFetched, type FetchedFile } from './files.ts';
import { sayArchive } from './words.ts';

type Entry = Extract<FileReply, { readonly entries: unknown }>['entries'][number];

/** One file may be large, and its base64 larger. */
const fileMs = 10 * 60_000;

/** `hma archive [list | get ID [PATH]]`. */
export async function archive(ask: Ask, words: Words): Promise<number> {
  const [verb = 'list', id, path] = words.positionals;
  const { out } = words.values;
  if (verb === 'get')
    return id === undefined
      ? ask.misuse('name a candidate, `initial` or `protected` after `get`')
      : get(ask, { id, path, out });
  if (verb !== 'list' || id !== undefined)
    return ask.misuse(`unexpected ${JSON.stringify(verb === 'list' ? id : verb)} after \`archive\``);
  if (out !== undefined) return ask.misuse('--out goes with `archive get`');
  const asked = await askController<ArchiveReply>(ask, agentRequests.archive, {});
  if ('exit' in asked) return asked.exit;
  if ('refused' in asked.reply) return answerRefused(ask, asked.reply.refused);
  await answerWith(ask, asked.reply, sayArchive(asked.reply));
  return sessionExit.accepted;
}

interface Wanted {
  readonly id: string;
  readonly path: string | undefined;
  readonly out: string | undefined;
}

const fetchFile = (ask: Ask, id: string, path?: string): Promise<Replied<FileReply>> =>
  askController<FileReply>(ask, agentRequests.file, {
    params: { id, ...(path === undefined ? {} : { path }) },
    timeoutMs: fileMs,
  });

async function get(ask: Ask, { id, path, out }: Wanted): Promise<number> {
  const asked = await fetchFile(ask, id, path);
  if ('exit' in asked) return asked.exit;
  const { reply } = asked;
  if ('base64' in reply) {
    if (out === undefined) return printFile(ask, reply);
    const destination = destinationOf(out, reply.path);
    return (await write(ask, reply, destination)) ? tellWritten(ask, [destination]) : sessionExit.failed;
  }
  if ('entries' in reply) return list(ask, { id, path: undefined, out }, reply.entries);
  // the path may name a folder: a candidate holds files only, so its files are those below
  const listing = path === undefined || reply.refused.code !== 'unknown' ? undefined : await fetchFile(ask, id);
  if (path === undefined || listing === undefined || 'exit' in listing || !('entries' in listing.reply))
    return answerRefused(ask, reply.refused);
  const folder = `${path.replace(/\/+$/, '')}/`;
  const below = listing.reply.entries.filter((entry) => entry.path.startsWith(folder));
  return below.length === 0 ? answerRefused(ask, reply.refused) : list(ask, { id, path, out }, below);
}

async function printFile(ask: Ask, file: FetchedFile): Promise<number> {
  await ask.output.print(ask.json ? `${JSON.stringify(file)}\n` : Buffer.from(file.base64, 'base64'));
  return sessionExit.accepted;
}

/** Lists files, or with `--out` writes them all below a folder. */
async function list(ask: Ask, { id, out }: Wanted, entries: readonly Entry[]): Promise<number> {
  if (out === undefined) {
    const marks = { file: '', executable: ' *', link: ' @' } as const;
    const lines = entries.map(
      (entry) => `${String(entry.bytes).padStart(12)}  ${oneLine(entry.path, 4096)}${marks[entry.kind]}\n`,
    );
    await answerWith(ask, { entries }, lines.join(''));
    return sessionExit.accepted;
  }
  const odd = entries.find((entry) => !staysBelow(entry.path));
  if (odd) return answerRefused(ask, { code: 'unsafe_path', reason: `${JSON.stringify(odd.path)} would leave ${out}` });
  const written: string[] = [];
  for (const entry of entries) {
    const asked = await fetchFile(ask, id, entry.path);
    if ('exit' in asked) return asked.exit;
    if ('refused' in asked.reply) return answerRefused(ask, asked.reply.refused);
    if (!('base64' in asked.reply)) return answerRefused(ask, { code: 'unknown', reason: `${entry.path} is no file` });
    const destination = join(resolve(out), entry.path);
    if (!(await write(ask, asked.reply, destination))) return sessionExit.failed;
    written.push(destination);
  }
  return tellWritten(ask, written);
}

/** Writes a file; says why when it can't. */
async function write(ask: Ask, file: FetchedFile, destination: string): Promise<boolean> {
  try {
    writeFetched(file, destination);
    return true;
  } catch (error) {
    await ask.output.remark(
      `hma: ${destination} could not be written: ${error instanceof Error ? error.message : String(error)}. Name another place with --out.\n`,
    );
    return false;
  }
}

async function tellWritten(ask: Ask, written: readonly string[]): Promise<number> {
  await answerWith(ask, { written }, written.map((path) => `${path}\n`).join(''));
  return sessionExit.accepted;
}
