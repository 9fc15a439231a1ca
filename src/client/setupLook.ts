import type { Dirent } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { findProgram } from '../base/program.ts';
import { agentsKnown, evaluatorsIn, type FolderLook } from './setupDetect.ts';

/** Files that are looked at, and of how many the beginning is read, bytes. */
const [mostFiles, mostTexts, mostBytes] = [2000, 20, 64 * 1024];
const skipped = /^(node_modules|\.git|\.hma|\.venv|venv|__pycache__|dist|build)$/;

/** Lists and skims a folder, without following links or what is never a person's own, and looks for agents on PATH. */
export async function lookAtFolder(folder: string, path: string | undefined): Promise<FolderLook> {
  const files = (await filesBelow(folder)).toSorted();
  const read = [
    ...evaluatorsIn({ files, texts: {} }).map(({ file }) => file),
    ...files.filter((each) => /^(Makefile|readme\.md|objective\.md|task\.md)$/i.test(each)),
  ];
  const texts = await Promise.all(
    [...new Set(read)].slice(0, mostTexts).map(async (each) => [each, await beginningOf(join(folder, each))] as const),
  );
  const found = await Promise.all(
    agentsKnown.map(async ({ program }) => ((await findProgram(program, { path, cwd: folder })).ok ? [program] : [])),
  );
  return { name: basename(folder), files, texts: Object.fromEntries(texts), programs: found.flat() };
}

/** Relative paths of the files of a folder, breadth first, as many as are looked at; a folder that can't be read is left out. */
async function filesBelow(root: string): Promise<string[]> {
  const files: string[] = [];
  const folders = [''];
  for (let folder = folders.shift(); folder !== undefined && files.length < mostFiles; folder = folders.shift()) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((): Dirent[] => []);
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !skipped.test(entry.name)) folders.push(path);
      else if (entry.isFile()) files.push(path);
    }
  }
  return files.slice(0, mostFiles);
}

async function beginningOf(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(mostBytes), 0, mostBytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
