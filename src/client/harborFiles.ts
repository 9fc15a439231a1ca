import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

import picomatch from 'picomatch';

import { readDockerfile } from './dockerfile.ts';
import { isWithin } from './importTask.ts';

/** The files of a task's environment as they come into a workspace. */
export interface EnvironmentFiles {
  /** The folder in which the task expects its files, absolute. */
  readonly app: string;
  /** By their place below `app`: the absolute path of the file that is copied there. */
  readonly files: ReadonlyMap<string, string>;
  /** Copies of the image that lead elsewhere than below `app`, and steps of its making: in words, not carried out. */
  readonly left: readonly string[];
  readonly steps: readonly string[];
  /** A link that leads out of the environment, which is refused. */
  readonly escapes: string | null;
}

const ofImage = /^(Dockerfile(\..*)?|.*\.dockerfile|docker-compose.*\.ya?ml|compose\.ya?ml|\.dockerignore)$/i;

/** Looks through `environment/`: all of its files, or those that its Dockerfile copies below the task's working folder. */
export function environmentFiles(folder: string): EnvironmentFiles {
  const escaping: string[] = [];
  const all = filesBelow(folder, escaping).filter((path) => !ofImage.test(path));
  const text = readIfThere(join(folder, 'Dockerfile'));
  const { workdir, copies, steps } = readDockerfile(text ?? '');
  const app = workdir === null || workdir === '/' ? '/app' : workdir;
  const files = new Map<string, string>();
  const left: string[] = [];
  for (const { from, to } of copies)
    for (const source of from) {
      const copied = copiedBy(source, to, all);
      const inside = copied.filter(({ target }) => target.startsWith(`${app}/`));
      for (const { path, target } of inside) files.set(target.slice(app.length + 1), join(folder, path));
      if (inside.length < copied.length || copied.length === 0) left.push(`COPY ${source} ${to}`);
    }
  if (files.size === 0 && copies.length === 0) for (const path of all) files.set(path, join(folder, path));
  return { app, files, left, steps, escapes: escaping[0] ?? null };
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
const keeps = /\b(do not|don['’]t|never|must not|may not|cannot|read[- ]only|fixed|untouched)\b/i;

/**
 * Files below `app` that sentences and lines of the instruction tell to edit, and those they tell to leave: named by their absolute path, or in
 * backticks by the name of a file that is there. A file of both kinds is one to edit.
 */
export function toldFiles(instruction: string, { app, files }: Pick<EnvironmentFiles, 'app' | 'files'>): ToldFiles {
  const edited = new Set<string>();
  const kept = new Set<string>();
  for (const line of instruction.split(/\n|(?<=[.!;])\s/).filter((each) => edits.test(each) || keeps.test(each))) {
    const absolute = [...line.matchAll(/(\/[\w.+-]+)+\/?/g)]
      .map(([path]) => path)
      .filter((path) => path.startsWith(`${app}/`));
    const named = [...line.matchAll(/`([\w./+-]+)`/g)]
      .map(([, name = '']) => name.replace(/^\.\//, ''))
      .filter((name) => isKnown(name, files));
    const paths = [...absolute.map((path) => path.slice(app.length + 1)), ...named].map((path) =>
      path.replace(/[./]+$/, ''),
    );
    for (const path of paths.filter((each) => each !== '')) (keeps.test(line) ? kept : edited).add(path);
  }
  return { edited: [...edited], kept: [...kept].filter((path) => !edited.has(path)) };
}

const isKnown = (name: string, files: ReadonlyMap<string, string>): boolean =>
  files.has(name) || [...files.keys()].some((path) => path.startsWith(`${name}/`));

/** Candidate and protected paths: what is to be edited (where nothing is told, all that isn't to be left), and all the rest. */
export function partsOf(
  { files }: Pick<EnvironmentFiles, 'files'>,
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
