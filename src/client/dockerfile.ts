import { posix } from 'node:path';

/** A file or folder of the image that COPY or `cp` puts at another place; `to` is absolute, and one that ends with `/` is a folder. */
export interface DockerfileCopy {
  readonly from: readonly string[];
  readonly to: string;
}

/** What a RUN keeps of files that are in the image already; both paths absolute. */
export type DockerfileKept =
  | { readonly kind: 'copy'; readonly from: string; readonly to: string }
  /** The SHA-256 of a file as `sha256sum` prints it; `bare`: the hash alone. */
  | { readonly kind: 'sum'; readonly of: string; readonly to: string; readonly bare: boolean };

/** What of a Dockerfile an import can use: where the task lives, what is copied into its image, and what it does besides. */
export interface DockerfileRead {
  /** The last stage's working folder, absolute; null where none is set. */
  readonly workdir: string | null;
  readonly copies: readonly DockerfileCopy[];
  readonly kept: readonly DockerfileKept[];
  /** The commands of RUN, ENV and the like, in one line each: an import doesn't carry them out. */
  readonly steps: readonly string[];
}

interface Instruction {
  readonly keyword: string;
  readonly rest: string;
}

/**
 * Reads WORKDIR, COPY and ADD of a Dockerfile's last stage and of the stages it builds on (line continuations, comments, here-documents,
 * literal ARG and ENV values, both forms of COPY), and which files a RUN only copies or sums (`mkdir`, `cp`, `sha256sum`). Copies from other
 * stages and images count among the steps that aren't carried out, as URLs do.
 */
export function readDockerfile(text: string): DockerfileRead {
  const variables = new Map<string, string>();
  const folders = new Set<string>();
  const copies: DockerfileCopy[] = [];
  const kept: DockerfileKept[] = [];
  const steps: string[] = [];
  let workdir: string | null = null;
  for (const { keyword, rest } of lastStage(instructionsOf(text))) {
    const step = `${keyword} ${rest.replaceAll(/\s+/g, ' ')}`;
    switch (keyword) {
      case 'WORKDIR': {
        const folder = withVariables(rest.replace(/^(["'])(.*)\1$/, '$2'), variables);
        if (folder.includes('$')) steps.push(step);
        else folders.add((workdir = posix.resolve(workdir ?? '/', folder)));
        break;
      }
      case 'COPY':
      case 'ADD': {
        const copy = copyOf(withVariables(rest, variables), workdir ?? '/');
        if (copy === null) steps.push(step);
        else copies.push(copy);
        break;
      }
      case 'RUN': {
        const done = runOf(rest, workdir ?? '/', folders);
        kept.push(...done.kept);
        if (!done.whole) steps.push(step);
        break;
      }
      case 'ARG':
      case 'ENV':
        for (const [name, value] of assignments(rest)) variables.set(name, withVariables(value, variables));
        if (keyword === 'ENV') steps.push(step);
        break;
      case 'USER':
        steps.push(step);
        break;
      default: // FROM, LABEL, EXPOSE, CMD and the like say nothing about the task's files
    }
  }
  // COPY of a file onto a folder that is there puts it into the folder
  const into = copies.map(({ from, to }) => ({ from, to: folders.has(to) ? `${to}/` : to }));
  return { workdir, copies: into, kept, steps };
}

/** The instructions of a text, continued lines joined, without comments and the bodies of here-documents. */
function instructionsOf(text: string): Instruction[] {
  const found: Instruction[] = [];
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    let line = '';
    for (; at < lines.length; at++) {
      const part = lines[at] ?? '';
      if (/^\s*#/.test(part)) continue;
      line += part.replace(/\\[ \t]*$/, ' ');
      if (!/\\[ \t]*$/.test(part)) break;
    }
    const [, keyword, rest] = /^\s*(\w+)\s+(.*?)\s*$/s.exec(line) ?? [];
    if (keyword === undefined || rest === undefined) continue;
    found.push({ keyword: keyword.toUpperCase(), rest });
    for (const [, end = ''] of /^(RUN|COPY|ADD)$/i.test(keyword) ? rest.matchAll(/<<-?\s*["']?(\w+)["']?/g) : []) {
      while (at + 1 < lines.length && (lines[at + 1] ?? '').trim() !== end) at++;
      at++;
    }
  }
  return found;
}

/** What makes the last stage: the ARGs before the first one, the stages of this file that it is made from, and its own. */
function lastStage(all: readonly Instruction[]): readonly Instruction[] {
  const stages: { readonly name: string; readonly base: string; readonly own: Instruction[] }[] = [];
  const before: Instruction[] = [];
  for (const each of all)
    if (each.keyword === 'FROM') {
      const [base = '', , name = ''] = each.rest.replaceAll(/--\S+\s+/g, '').split(/\s+/);
      stages.push({ name, base, own: [] });
    } else (stages.at(-1)?.own ?? before).push(each);
  const chain: Instruction[] = [];
  for (let at = stages.length - 1; at >= 0;) {
    const stage = stages[at];
    if (!stage) break;
    chain.unshift(...stage.own);
    at = stages.findLastIndex(({ name }, earlier) => earlier < at && name !== '' && name === stage.base);
  }
  return [...before, ...chain];
}

const withVariables = (text: string, variables: ReadonlyMap<string, string>): string =>
  text.replaceAll(
    /\$(?:(\w+)|\{(\w+)(?::-([^}]*))?\})/g,
    (whole, plain: string | undefined, braced: string | undefined, fallback: string | undefined) =>
      variables.get(plain ?? braced ?? '') ?? fallback ?? whole,
  );

/** `A=1 B="two words"`, or the older `A 1`. */
function assignments(text: string): readonly (readonly [string, string])[] {
  const pairs = [...text.matchAll(/(\w+)=(?:"([^"]*)"|'([^']*)'|(\S*))/g)];
  if (pairs.length > 0)
    return pairs.map(([, name = '', double, single, bare]) => [name, double ?? single ?? bare ?? ''] as const);
  const [, name, value] = /^(\w+)\s+(.+)$/.exec(text) ?? [];
  return name === undefined || value === undefined ? [] : [[name, value]];
}

function copyOf(rest: string, workdir: string): DockerfileCopy | null {
  const plain = rest.replaceAll(/(?:^|\s)--(?!from\b)[\w-]+(?:=\S+)?/g, ' ').trim();
  if (/^--from\b|\$|<<|\w+:\/\//.test(plain)) return null;
  const words = plain.startsWith('[') ? jsonWords(plain) : plain.split(/\s+/);
  const to = words?.at(-1);
  if (words === null || to === undefined || words.length < 2) return null;
  const target = posix.resolve(workdir, to);
  const folder = to.endsWith('/') || to === '.' || words.length > 2;
  return { from: words.slice(0, -1), to: folder && target !== '/' ? `${target}/` : target };
}

function jsonWords(text: string): readonly string[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : null;
  } catch {
    return null;
  }
}

/** What a RUN keeps; `whole`: it does nothing else. Folders that it makes are added to `folders`. */
function runOf(rest: string, workdir: string, folders: Set<string>): { kept: DockerfileKept[]; whole: boolean } {
  const kept: DockerfileKept[] = [];
  let whole = true;
  for (const command of rest.split(/&&|;/).map((each) => each.trim())) {
    const at = (path: string): string => posix.resolve(workdir, path);
    const [, made] = /^mkdir\s+(?:-p\s+)?([\w./ -]+)$/.exec(command) ?? [];
    const [, copied] = /^cp\s+((?:-\w+\s+)*(?:[\w./+ -]|\/\*(?=\s))+)$/.exec(command) ?? [];
    const [, of, cut, sumTo] =
      /^sha256sum\s+([\w./+-]+)\s*(\|\s*(?:cut\s.*|awk\s.*\$1.*))?\s*>\s*([\w./+-]+)$/.exec(command) ?? [];
    if (made !== undefined) for (const path of made.split(/\s+/)) folders.add(at(path));
    else if (copied !== undefined) {
      const words = copied.split(/\s+/).filter((word) => !word.startsWith('-'));
      const last = words.pop() ?? '/';
      const into = last.endsWith('/') || words.length > 1 || folders.has(at(last));
      for (const from of words) {
        const content = /\/[.*]$/.test(from);
        const to = into && !content ? posix.join(at(last), posix.basename(from)) : at(last);
        kept.push({ kind: 'copy', from: at(content ? from.slice(0, -1) : from), to });
      }
    } else if (of !== undefined && sumTo !== undefined)
      kept.push({ kind: 'sum', of: at(of), to: at(sumTo), bare: cut !== undefined });
    else whole = false;
  }
  return { kept, whole };
}
