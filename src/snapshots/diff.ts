import { comparePaths, fromTreePath, quotePath, unquotePath } from './bytePaths.ts';
import type { Manifest, ManifestEntry } from './manifest.ts';
import type { SnapshotChange, SnapshotEntry } from './port.ts';
import { EMPTY_TREE, raw, type Repository } from './repository.ts';

/** A manifest entry without what only the store needs. */
export const plainEntry = ({ path, kind, bytes, sha256 }: ManifestEntry): SnapshotEntry => ({
  path,
  kind,
  bytes,
  sha256,
});

/** What differs between two lists, sorted by path bytes. A change of kind (say, of the executable bit) is a change. */
export function changesBetween(before: Manifest, after: Manifest): SnapshotChange[] {
  const old = new Map(before.entries.map((entry) => [entry.path, plainEntry(entry)]));
  const changes: SnapshotChange[] = [];
  for (const entry of after.entries) {
    const was = old.get(entry.path);
    const is = plainEntry(entry);
    old.delete(entry.path);
    if (was === undefined) changes.push({ path: entry.path, change: 'added', after: is });
    else if (was.sha256 !== is.sha256 || was.kind !== is.kind)
      changes.push({ path: entry.path, change: 'changed', before: was, after: is });
  }
  for (const was of old.values()) changes.push({ path: was.path, change: 'removed', before: was });
  return changes.sort((left, right) => comparePaths(left.path, right.path));
}

/** One side of a patch. */
export interface PatchSide {
  readonly id: string;
  readonly manifest: Manifest;
}

/** A unified diff of all that differs, with the files' own names, large files said to be binary. */
export async function patchBetween(
  repository: Repository,
  sides: { before: PatchSide; after: PatchSide },
  contextLines: number,
): Promise<string> {
  const { before, after } = sides;
  const args = [
    'diff-tree',
    '-r',
    '--patch-with-raw',
    '--full-index',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '--no-color',
  ];
  const output = await raw(repository, ...args, `--unified=${contextLines}`, treeOf(before), treeOf(after));
  const large = new Set(
    [...before.manifest.entries, ...after.manifest.entries].filter((entry) => entry.large).map(({ path }) => path),
  );
  const { changed, sections } = splitPatch(output);
  let at = 0;
  let patch = '';
  for (const { path, sections: count } of changed)
    for (const section of sections.slice(at, (at += count))) patch += renameSection(section, path, large.has(path));
  return patch;
}

const treeOf = ({ id, manifest }: PatchSide): string => (manifest.entries.length === 0 ? EMPTY_TREE : `${id}:files`);

/** git's output as its list of changed paths, in order, and the diff sections that follow: two for a file that became a link. */
function splitPatch(output: string): { changed: { path: string; sections: number }[]; sections: string[] } {
  const changed: { path: string; sections: number }[] = [];
  let at = 0;
  while (output[at] === ':') {
    const end = output.indexOf('\n', at);
    const [facts, name] = output.slice(at, end).split('\t');
    changed.push({ path: fromTreePath(unquotePath(name ?? '')), sections: facts?.endsWith('T') ? 2 : 1 });
    at = end + 1;
  }
  // no line of a diff's content begins like this: each has ' ', '+', '-', '@' or '\' in front
  const sections = output
    .slice(at)
    .split(/^(?=diff --git )/m)
    .filter((section) => section.startsWith('diff --git '));
  return { changed, sections };
}

/** Puts the real name into a section's head. */
function renameSection(section: string, path: string, large: boolean): string {
  const label = (side: 'a' | 'b'): string =>
    /^[\x21-\x7e]+$/.test(path) && !/["\\]/.test(path) ? `${side}/${path}` : quotePath(`${side}/${path}`);
  const added = /^new file mode/m.test(section.split('\n@@')[0] ?? '');
  const removed = /^deleted file mode/m.test(section.split('\n@@')[0] ?? '');
  const names = { old: added ? '/dev/null' : label('a'), now: removed ? '/dev/null' : label('b') };
  const differ = `Binary files ${names.old} and ${names.now} differ`;
  const lines = section.split('\n');
  const hunk = lines.findIndex((line) => line.startsWith('@@ '));
  const head = lines.slice(0, hunk < 0 ? undefined : hunk).map((line) => {
    if (line.startsWith('diff --git ')) return `diff --git ${label('a')} ${label('b')}`;
    if (line.startsWith('--- ')) return large ? differ : `--- ${names.old}`;
    if (line.startsWith('+++ ')) return large ? undefined : `+++ ${names.now}`;
    return line.startsWith('Binary files ') ? differ : line;
  });
  const body = hunk < 0 ? [] : large ? [''] : lines.slice(hunk);
  return [...head, ...body].filter((line) => line !== undefined).join('\n');
}
