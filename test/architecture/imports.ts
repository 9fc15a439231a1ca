import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import { directions, isPure, knowsVscode, rims, starts, type Direction } from './directions.ts';

/** A source file: its path relative to src, with slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** One import: what it names, and whether the whole statement is `import type` or `export type`, which leaves no trace at run time. */
export interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
}

const statement =
  /\b(?:import|export)\s+(?<type>type\s+)?[\w$,*{}\s]*?\bfrom\s*(?<quote>['"])(?<from>[^'"\n]+)\k<quote>|\b(?:import|require)\s*\(?\s*(?<quote2>['"])(?<bare>[^'"\n]+)\k<quote2>/g;

/**
 * What a TypeScript file imports: static, type-only, dynamic and side-effect imports and re-exports.
 * It reads text, not syntax, and so sees type imports too, which a bundler has already dropped; comments are left out.
 */
export const importsOf = (text: string): readonly Import[] => {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '');
  return [...code.matchAll(statement)].flatMap(({ groups }) => {
    const from = groups?.['from'] ?? groups?.['bare'];
    return from === undefined ? [] : [{ from, typeOnly: groups?.['type'] !== undefined }];
  });
};

/** The folder of a file in src; a file directly in src stands for itself. */
const place = (path: string): string => path.split('/')[0] ?? '';

const directionOf = (path: string): Direction | undefined => (path.includes('/') ? directions : starts)[place(path)];

/** Why a file may not import another file of src, or undefined if it may. */
const complainOfFile = (file: SourceFile, imported: Import, direction: Direction): string | undefined => {
  const own = place(file.path);
  const target = posix.join(posix.dirname(file.path), imported.from);
  const other = place(target);
  if (other === '..') return 'it lies outside of src';
  if (!target.includes('/')) return 'a file directly in src is where a process starts, not to be imported';
  if (rims.has(target) && isPure(own) && !rims.has(file.path)) return `it is the rim of ${other}, and ${own} is pure`;
  if (other === own || direction.folders.includes(other)) return undefined;
  if (!direction.ports.includes(other)) return `${own} may not know ${other}`;
  const port = target === `${other}/port.ts` && imported.typeOnly;
  return port ? undefined : `${own} may know only the types of ${other}/port.ts, by import type`;
};

const complain = (file: SourceFile, imported: Import, direction: Direction): string | undefined => {
  if (imported.from === 'vscode')
    return knowsVscode(file.path) ? undefined : 'only the window and extension.ts know vscode';
  if (imported.from.startsWith('.')) return complainOfFile(file, imported, direction);
  const module = imported.from.replace(/^node:/, '');
  if (direction.node === 'any' || rims.has(file.path) || !builtinModules.includes(module)) return undefined;
  return direction.node.includes(module) ? undefined : `${place(file.path)} does no input or output`;
};

/** What breaks the directions in the given files: one line each, in the order of the files. */
export const violations = (files: readonly SourceFile[]): readonly string[] =>
  files.flatMap((file) => {
    const direction = directionOf(file.path);
    if (direction === undefined)
      return [`src/${file.path}: it has no direction yet; name it in test/architecture/directions.ts`];
    return importsOf(file.text).flatMap((imported) => {
      const reason = complain(file, imported, direction);
      return reason === undefined ? [] : [`src/${file.path} imports ${imported.from}: ${reason}`];
    });
  });
