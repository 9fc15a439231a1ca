import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

import { ok, refused, type Result } from '../base/result.ts';
import type { KeyPath } from './document.ts';
import type { Contract } from './model.ts';
import { absolutePath, plainPath } from './paths.ts';
import type { Report } from './programs.ts';
import type { ContractSource } from './schema.ts';

/** Why a text file can't be used; `what` completes the sentence "`path` …". */
export interface ReadRefusal {
  readonly code: 'file_missing' | 'file_unreadable' | 'not_a_file' | 'file_too_large' | 'not_utf8';
  readonly what: string;
  readonly fix: string;
  /** For text that isn't UTF-8: the line of the first bad byte, from 1. */
  readonly line?: number;
}

const refusals: Readonly<Record<string, Omit<ReadRefusal, 'line'>>> = {
  ENOENT: { code: 'file_missing', what: 'does not exist', fix: 'Create it, or correct the path.' },
  ENOTDIR: { code: 'file_missing', what: 'does not exist: a part of its path is a file', fix: 'Correct the path.' },
  EISDIR: { code: 'not_a_file', what: 'is a folder', fix: 'Name a file, or rename the folder.' },
  EACCES: {
    code: 'file_unreadable',
    what: 'may not be read',
    fix: 'Give yourself permission to read it (chmod u+r, and x on its folders).',
  },
  EPERM: { code: 'file_unreadable', what: 'may not be read', fix: 'Give yourself permission to read it.' },
  ELOOP: {
    code: 'file_unreadable',
    what: 'is a symbolic link that leads back to itself',
    fix: 'Replace the link by a file.',
  },
  ENAMETOOLONG: { code: 'file_missing', what: 'has too long a name', fix: 'Correct the path.' },
  ENXIO: { code: 'not_a_file', what: 'is not a regular file', fix: 'Name a regular file.' },
};

/** Reads a regular file of UTF-8 text of at most `most` bytes; a byte order mark at its start is dropped. Never blocks on a FIFO. */
export async function readText(path: string, most: number): Promise<Result<string, ReadRefusal>> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return await readOpened(handle, most);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const known = refusals[(error as NodeJS.ErrnoException).code ?? ''];
    return refused(
      known ?? {
        code: 'file_unreadable',
        what: `can't be read (${(error as Error).message})`,
        fix: 'Check the file and its file system.',
      },
    );
  }
}

async function readOpened(handle: FileHandle, most: number): Promise<Result<string, ReadRefusal>> {
  const stat = await handle.stat();
  if (stat.isDirectory()) return refused(refusals['EISDIR']!);
  if (!stat.isFile()) return refused(refusals['ENXIO']!);
  const bytes = Buffer.alloc(Math.min(stat.size, most) + 1);
  let filled = 0;
  for (;;) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, filled);
    filled += bytesRead;
    if (bytesRead === 0 || filled === bytes.length) break;
  }
  if (filled > most || stat.size > most) {
    return refused({
      code: 'file_too_large',
      what: `is larger than ${most / 1024} KiB`,
      fix: `Shorten it to ${most / 1024} KiB; name longer material by its path.`,
    });
  }
  return decode(bytes.subarray(0, filled));
}

function decode(bytes: Buffer): Result<string, ReadRefusal> {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (wide) return refused({ code: 'not_utf8', what: 'is UTF-16', fix: 'Save it as UTF-8.' });
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const nul = text.indexOf('\0');
    if (nul >= 0)
      return refused({
        code: 'not_utf8',
        what: 'is not text: it contains a NUL byte',
        fix: 'Save it as UTF-8 text.',
        line: lineAt(text, nul),
      });
    return ok(text);
  } catch {
    // TextDecoder doesn't say where: the longest prefix of whole lines that decodes does
    const lines = bytes.toString('latin1').split('\n');
    const line = lines.findIndex((latin) => !isUtf8(Buffer.from(latin, 'latin1'))) + 1;
    return refused({ code: 'not_utf8', what: 'is not UTF-8', fix: 'Save it as UTF-8.', ...(line > 0 ? { line } : {}) });
  }
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

const isUtf8 = (bytes: Buffer): boolean => Buffer.from(bytes.toString('utf8'), 'utf8').equals(bytes);

/** Largest objective or prompt template, bytes. */
export const largestText = 256 * 1024;

/** The folders that files are looked for from. */
type World = Parameters<typeof absolutePath>[1];

/** The texts of a contract, and the files (absolute) that they were read from. */
export interface Texts {
  readonly objective: string;
  readonly prompts: Contract['prompts'];
  readonly sources: { readonly objective?: string; readonly prompts: readonly string[] };
}

/** Reads the objective and the prompt templates, wherever they stand. Problems are reported; a text that can't be read is empty. */
export async function readTexts(source: ContractSource, world: World, report: Report): Promise<Texts> {
  const read = (value: string | { file: string } | undefined, path: KeyPath) =>
    readTextOrFile(value, { path, world, report });
  const [objective, exploration, review] = await Promise.all([
    read(source.objective, ['objective']),
    read(source.prompts.exploration, ['prompts', 'exploration']),
    read(source.prompts.review, ['prompts', 'review']),
  ]);
  return {
    objective: objective?.text ?? '',
    prompts: {
      ...(exploration ? { exploration: exploration.text } : {}),
      ...(review ? { review: review.text } : {}),
      ...(source.prompts.recordKeeping ? { recordKeeping: true } : {}),
    },
    sources: {
      ...(objective?.file === undefined ? {} : { objective: objective.file }),
      prompts: [exploration?.file, review?.file].filter((file) => file !== undefined),
    },
  };
}

async function readTextOrFile(
  value: string | { file: string } | undefined,
  { path, world, report }: { path: KeyPath; world: World; report: Report },
): Promise<{ text: string; file?: string } | undefined> {
  if (value === undefined) return undefined;
  const key = path.join('.');
  if (typeof value === 'string') {
    if (Buffer.byteLength(value) > largestText)
      report({
        severity: 'error',
        code: 'file_too_large',
        path,
        what: `\`${key}\` is longer than ${largestText / 1024} KiB`,
        fix: 'Shorten it; name longer material by its path.',
      });
    return { text: value };
  }
  const file = absolutePath(plainPath(value.file), world);
  const text = await readText(file, largestText);
  const place = [...path, 'file'];
  if (!text.ok)
    report({
      severity: 'error',
      code: text.refusal.code,
      path: place,
      what: `\`${key}\`: ${value.file} ${text.refusal.what}${text.refusal.line === undefined ? '' : ` (line ${text.refusal.line})`}`,
      fix: text.refusal.fix,
    });
  else if (text.value.trim() === '')
    report({
      severity: 'error',
      code: 'file_empty',
      path: place,
      what: `\`${key}\`: ${value.file} is empty`,
      fix: 'Write into it what the agents are to achieve, or name another file.',
    });
  return { text: text.ok ? text.value.replace(/\r\n/g, '\n') : '', file };
}
