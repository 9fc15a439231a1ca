import type { KeyPath } from './document.ts';
import type { Contract } from './model.ts';
import { absolutePath, plainPath } from './paths.ts';
import type { Report } from './programs.ts';
import { readText } from './readText.ts';
import type { ContractSource } from './schema.ts';

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
    prompts: { ...(exploration ? { exploration: exploration.text } : {}), ...(review ? { review: review.text } : {}) },
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
