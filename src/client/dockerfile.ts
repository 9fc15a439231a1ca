import { posix } from 'node:path';

/** What of a Dockerfile an import can use: where the task lives, what is copied into its image, and what it does besides. */
export interface DockerfileRead {
  /** The last stage's working folder, absolute; null where none is set. */
  readonly workdir: string | null;
  /** `to` is absolute; one that ends with `/` is a folder. */
  readonly copies: readonly { readonly from: readonly string[]; readonly to: string }[];
  /** The commands of RUN, ENV and the like, in one line each: an import doesn't carry them out. */
  readonly steps: readonly string[];
}

/**
 * Reads WORKDIR, COPY and ADD of a Dockerfile's last stage (line continuations, comments, both forms of COPY). Copies from other stages
 * and images count among the steps that aren't carried out, as URLs do.
 */
export function readDockerfile(text: string): DockerfileRead {
  const lines = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replace(/\\[ \t]*\r?\n/g, ' ')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const lastStage = lines.slice(
    Math.max(
      0,
      lines.findLastIndex((line) => /^FROM\s/i.test(line)),
    ),
  );
  let workdir: string | null = null;
  const copies: { from: readonly string[]; to: string }[] = [];
  const steps: string[] = [];
  for (const line of lastStage) {
    const [, keyword = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    switch (keyword.toUpperCase()) {
      case 'WORKDIR':
        workdir = posix.resolve(workdir ?? '/', rest.replace(/^(["'])(.*)\1$/, '$2'));
        break;
      case 'COPY':
      case 'ADD': {
        const copy = copyOf(rest, workdir ?? '/');
        if (copy === null) steps.push(line);
        else copies.push(copy);
        break;
      }
      case 'RUN':
      case 'ENV':
      case 'USER':
        steps.push(line.replaceAll(/\s+/g, ' '));
        break;
      default: // FROM, LABEL, EXPOSE, CMD and the like say nothing about the task's files
    }
  }
  return { workdir, copies, steps };
}

function copyOf(rest: string, workdir: string): { from: readonly string[]; to: string } | null {
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
