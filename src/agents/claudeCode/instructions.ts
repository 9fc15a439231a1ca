import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Files in which a workspace tells agents how to work in it, as Claude Code would read them by itself. */
const claudeNames = ['CLAUDE.md', '.claude/CLAUDE.md', 'AGENTS.md'];

/** More is cut: a text that goes into every request. */
const mostBytes = 128 * 1024;

/**
 * The instruction files of a folder as one text, with the files that they import (`@docs/style.md` on a line of its own or in a
 * sentence); null when there are none. With `--setting-sources ""`, which keeps the workspace's settings and hooks out, Claude Code reads
 * no instruction files either, so they are handed over. Only regular files inside the folder are read; each once, also behind links.
 */
export async function workspaceInstructions(
  folder: string,
  names: readonly string[] = claudeNames,
): Promise<string | null> {
  const root = await realpath(folder);
  const parts: string[] = [];
  const seen = new Set<string>();
  let room = mostBytes;
  const take = async (path: string, depth: number): Promise<void> => {
    const file = await realpath(path).catch(() => null);
    if (file === null || !file.startsWith(`${root}/`) || seen.has(file) || room <= 0) return;
    seen.add(file);
    const text = await readStart(file, room);
    if (text.trim() === '') return;
    room -= Buffer.byteLength(text);
    parts.push(`Contents of ${path} (instructions of this folder):\n\n${text.trimEnd()}`);
    if (depth > 0) for (const name of importsOf(text)) await take(resolve(dirname(path), name), depth - 1);
  };
  for (const name of names) await take(join(root, name), 5);
  return parts.length === 0 ? null : `${parts.join('\n\n')}\n`;
}

/** What `@path` names, outside of code. */
const importsOf = (text: string): string[] =>
  [...text.replaceAll(/```[\s\S]*?```|`[^`\n]*`/gu, '').matchAll(/(?<=^|\s)@(\.{0,2}\/?[\w.-]+(?:\/[\w.-]+)*)/gu)].map(
    ([, name = '']) => name.replace(/\.$/u, ''),
  );

/** The beginning of a regular file; empty for anything else. */
async function readStart(file: string, bytes: number): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (!handle) return '';
  try {
    if (!(await handle.stat()).isFile()) return '';
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return ''; // a folder or a device after all
  } finally {
    await handle.close();
  }
}
