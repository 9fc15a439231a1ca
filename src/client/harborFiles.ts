import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

import picomatch from 'picomatch';

import { topOf } from '../machines/bubblewrap.ts';
import { isOfSystem } from '../task/paths.ts';
import { readDockerfile, type DockerfileRead } from './dockerfile.ts';
import { isWithin } from '../base/folders.ts';

/** Where a file of the image comes from: a file of the task's folder, or a text that a step of its making wrote. */
export type ImageFile = { readonly copy: string } | { readonly text: string };

/** The files of a task's environment as they come into a workspace. */
export interface EnvironmentFiles {
  /** The folder in which the task expects its files, absolute. */
  readonly app: string;
  /** The folder that the tests start in: `app`, or one below it. */
  readonly workdir: string;
  /** By their place below `app`. */
  readonly files: ReadonlyMap<string, ImageFile>;
  /** By their absolute path: files elsewhere in the image, in folders that an evaluator can be shown. */
  readonly beside: ReadonlyMap<string, ImageFile>;
  /** Copies of the image that lead where nothing can be shown, and steps of its making: in words, not carried out. */
  readonly left: readonly string[];
  readonly steps: readonly string[];
  /** A link that leads out of the environment, which is refused. */
  readonly escapes: string | null;
}

const ofImage = /^(Dockerfile(\..*)?|.*\.dockerfile|docker-compose.*\.ya?ml|compose\.ya?ml|\.dockerignore)$/i;

/** Whether a folder of its own can be shown there: nothing of this machine has that name, nor does a part of the task that is shown anyway. */
const canBeShown = (path: string): boolean =>
  !isOfSystem(path) && !/^\/(tests|logs|solution)(\/|$)/.test(path) && !existsSync(topOf(path));

/**
 * Looks through `environment/`: all of its files, or those that its Dockerfile copies, below the task's working folder and beside it.
 * `workdir`: the working folder where task.toml names one.
 */
export function environmentFiles(folder: string, workdir?: string): EnvironmentFiles {
  const escaping: string[] = [];
  const all = filesBelow(folder, escaping).filter((path) => !ofImage.test(path));
  const read = readDockerfile(readIfThere(join(folder, 'Dockerfile')) ?? '');
  const image = new Map<string, ImageFile>();
  const left: string[] = [];
  for (const { from, to } of read.copies)
    for (const source of from) {
      const copied = copiedBy(source, to, all);
      for (const { path, target } of copied) image.set(target, { copy: join(folder, path) });
      if (copied.length === 0) left.push(`COPY ${source} ${to}`);
    }
  keep(read.kept, image);
  const place = placeOf(workdir ?? read.workdir, [...image.keys()]);
  if (image.size === 0 && read.copies.length === 0)
    for (const path of all) image.set(`${place.app}/${path}`, { copy: join(folder, path) });
  const files = new Map<string, ImageFile>();
  const beside = new Map<string, ImageFile>();
  for (const [target, file] of image)
    if (target.startsWith(`${place.app}/`)) files.set(target.slice(place.app.length + 1), file);
    else if (canBeShown(target) && topOf(target) !== topOf(place.app)) beside.set(target, file);
    else left.push(target);
  return { ...place, files, beside, left, steps: read.steps, escapes: escaping[0] ?? null };
}

/** Where the task lives: its working folder, or the folder below / around it where files are copied beside it too. */
function placeOf(workdir: string | null, targets: readonly string[]): Pick<EnvironmentFiles, 'app' | 'workdir'> {
  const lies = (folder: string): boolean => targets.some((target) => target.startsWith(`${folder}/`));
  if (workdir === null || workdir === '/') {
    const tops = [...new Set(targets.map(topOf))].filter(canBeShown);
    const app = tops.find((top) => top === '/app') ?? tops[0] ?? '/app';
    return { app, workdir: app };
  }
  const top = topOf(workdir);
  const around = targets.some((target) => target.startsWith(`${top}/`) && !target.startsWith(`${workdir}/`));
  return { app: around && canBeShown(top) && lies(top) ? top : workdir, workdir };
}

/** Carries out what a RUN does with files that are in the image: copies and checksums. */
function keep(kept: DockerfileRead['kept'], image: Map<string, ImageFile>): void {
  for (const each of kept)
    if (each.kind === 'sum') {
      const file = image.get(each.of);
      if (file === undefined) continue;
      const hash = createHash('sha256')
        .update('copy' in file ? readFileSync(file.copy) : file.text)
        .digest('hex');
      image.set(each.to, { text: each.bare ? `${hash}\n` : `${hash}  ${each.of}\n` });
    } else
      for (const [path, file] of [...image])
        if (path === each.from) image.set(each.to, file);
        else if (path.startsWith(`${each.from}/`)) image.set(`${each.to}${path.slice(each.from.length)}`, file);
}

/** What COPY does with one source: a file as it is named, a folder's content, or what a pattern matches. */
function copiedBy(
  source: string,
  to: string,
  all: readonly string[],
): readonly { readonly path: string; readonly target: string }[] {
  const name = posix.normalize(`./${source}`).replace(/\/$/, '');
  const below = (folder: string): readonly string[] =>
    folder === '.' ? all : all.filter((path) => path.startsWith(`${folder}/`));
  const base = to.replace(/\/$/, '');
  const contents = (folder: string) =>
    below(folder).map((path) => ({
      path,
      target: `${base}/${folder === '.' ? path : path.slice(folder.length + 1)}`,
    }));
  const asFile = (path: string) => ({ path, target: to.endsWith('/') ? `${to}${posix.basename(path)}` : to });
  if (all.includes(name)) return [asFile(name)];
  if (name === '.' || below(name).length > 0) return contents(name);
  const matches = picomatch(name);
  const tops = new Set(all.flatMap((path) => path.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/'))));
  return [...tops]
    .filter((path) => matches(path))
    .flatMap((path) => (all.includes(path) ? [asFile(path)] : contents(path)));
}

/** Relative paths of all files, links included; those that lead out of the folder are told. */
export function filesBelow(root: string, escaping: string[] = [], folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === '.git' ? [] : filesBelow(root, escaping, path);
      if (!entry.isSymbolicLink()) return entry.isFile() ? [path] : [];
      const target = realIfThere(join(root, path));
      if (target === null || !isWithin(realpathSync(root), target) || !statSync(target).isFile()) {
        escaping.push(path);
        return [];
      }
      return [path];
    });
}

const realIfThere = (path: string): string | null => {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
};

/** A text file's content; null where there is none. */
export const readIfThere = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

/** What the task's instruction says of single files, as far as it can be told. */
export interface ToldFiles {
  readonly edited: readonly string[];
  readonly kept: readonly string[];
}

const edits = /\b(edit|modify|change|rewrite|implement|optimi[sz]e|improve|replace|create|write)\b/i;
/** Words for what is made: a file that is named with them and is not there yet. */
const makes = /\b(create|write|make|produce|generate|save|store|output|called|named)\b/i;
const keeps = /\b(do not|don['’]t|never|must not|may not|cannot|read[- ]only|fixed|untouched)\b/i;

/** Names that are files' even where no such file is there yet; `numpy.linalg` is none. */
const fileName =
  /^[\w+-][\w./+-]*\.(py|txt|csv|tsv|jsonl?|md|sh|[chsv]|cc|cpp|rs|go|[jt]s|java|rb|pl|[Rr]|jl|toml|ya?ml|html|css|sql|parquet|np[yz]|pt|pkl|bin|out|xml|png|asm|ml|hs|lua|tex|ipynb|db|dat|gz|zip|cfg|ini|conf)$/;

/**
 * Files below `app` that sentences and lines of the instruction tell to edit or to make, and those they tell to leave: named by their absolute
 * path, in backticks by the name of a file that is there, or, for one to be made, by a file's name in backticks or after «called». A file of
 * both kinds is one to edit.
 */
export function toldFiles(
  instruction: string,
  { app, files }: { readonly app: string; readonly files: ReadonlyMap<string, unknown> },
): ToldFiles {
  const edited = new Set<string>();
  const kept = new Set<string>();
  for (const line of instruction.split(/\n|(?<=[.!;])\s/)) {
    const all = (pattern: RegExp): string[] => [...line.matchAll(pattern)].map(([, name = '']) => name);
    const absolute = all(/((?:\/[\w.+-]+)+)/g)
      .filter((path) => path.startsWith(`${app}/`))
      .map((path) => path.slice(app.length + 1));
    const quoted = all(/`([\w./+-]+)`/g).map((name) => name.replace(/^\.\//, ''));
    const called = all(/\b(?:called|named)\s+["'`*]*([\w+-]+(?:[./][\w+-]+)*)/gi);
    const plain = (names: readonly string[]): string[] =>
      names.map((name) => name.replace(/[./]+$/, '')).filter((name) => name !== '');
    const there = [...plain(absolute), ...plain(quoted).filter((name) => isThere(name, files))];
    const fresh = [...absolute, ...[...quoted, ...called].filter((name) => fileName.test(name))];
    if (keeps.test(line)) for (const path of there) kept.add(path);
    else {
      if (edits.test(line)) for (const path of there) edited.add(path);
      if (makes.test(line)) for (const path of plain(fresh)) if (!isThere(path, files)) edited.add(path);
    }
  }
  return { edited: [...edited], kept: [...kept].filter((path) => !edited.has(path)) };
}

/** Whether a file or a folder of files has this path. */
export const isThere = (name: string, files: ReadonlyMap<string, unknown>): boolean =>
  files.has(name) || [...files.keys()].some((path) => path.startsWith(`${name}/`));

/** Candidate and protected paths: what is to be edited (where nothing is told, all that isn't to be left), and all the rest. */
export function partsOf(
  { files }: { readonly files: ReadonlyMap<string, unknown> },
  told: ToldFiles,
): { readonly candidate: readonly string[]; readonly protected: readonly string[] } {
  const all = [...files.keys()].toSorted();
  const asPath = (path: string): string => (all.some((each) => each.startsWith(`${path}/`)) ? `${path}/**` : path);
  const lies = (path: string, within: readonly string[]): boolean =>
    within.some((each) => path === each || path.startsWith(`${each}/`));
  const chosen = (guarded: readonly string[], path: string): boolean => !lies(path, guarded);
  if (told.edited.length > 0) {
    const rest = all.filter((path) => chosen(told.edited, path));
    return { candidate: told.edited.map(asPath), protected: gathered(rest, all) };
  }
  const free = all.filter((path) => chosen(told.kept, path));
  return {
    candidate: gathered(free, all),
    protected: gathered(
      all.filter((path) => !free.includes(path)),
      all,
    ),
  };
}

/** Paths with whole folders in place of all of their files. */
function gathered(some: readonly string[], all: readonly string[]): string[] {
  const wanted = new Set(some);
  const whole = (folder: string): boolean =>
    all.filter((path) => path.startsWith(`${folder}/`)).every((path) => wanted.has(path));
  const named = some.map((path) => {
    const parts = path.split('/');
    const folder = parts.map((_, at) => parts.slice(0, at + 1).join('/')).find((each) => each !== path && whole(each));
    return folder === undefined ? path : `${folder}/**`;
  });
  return [...new Set(named)];
}
