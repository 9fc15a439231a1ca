import { homedir } from 'node:os';
import { basename, resolve } from 'node:path';

import { ok, refused, type Result } from '../base/result.ts';
import { checkAgents, type KnownPreset } from './agents.ts';
import { checkContract } from './checks.ts';
import type { ContractCode } from './codes.ts';
import { parseContract, type ContractDocument, type KeyPath, type Problem } from './document.ts';
import { below, checkCommands, checkHidden, lookAt, realOf } from './files.ts';
import { isMisspelt, sayIssues } from './issues.ts';
import { sortMessages, type ContractMessage } from './messages.ts';
import type { Contract } from './model.ts';
import { readText, readTexts } from './readText.ts';
import { absolutePath } from './paths.ts';
import type { Report } from './programs.ts';
import { resolveContract } from './resolve.ts';
import { contractSource, type ContractSource } from './schema.ts';
import { mergeSources, type MergedSource } from './sources.ts';

/** The contract's usual name in a workspace. */
export const contractFileName = 'hma.yaml';

/** Largest contract file, bytes. */
export const largestContract = 512 * 1024;

/** What to load, and what the world is like. */
export interface LoadRequest {
  /** Absolute path of the workspace. */
  readonly workspace: string;
  /** The contract's path, absolute or relative to the workspace. Default `hma.yaml`. */
  readonly file?: string;
  /** The contract's text where it differs from the file's: what stands in an editor, not saved yet. */
  readonly text?: string;
  readonly given: {
    /** Wall time, Unix ms. */
    readonly wall: number;
    /** The home folder for `~/`. Default: the user's. */
    readonly home?: string;
    /** The adapters that exist; without it any name passes. */
    readonly adapters?: readonly string[];
    /** The presets that exist; without them any name passes. */
    readonly presets?: readonly KnownPreset[];
  };
}

/** A contract that may be run, what to warn about, and the files (absolute) that it was read from. */
export interface LoadedContract {
  readonly contract: Contract;
  readonly warnings: readonly ContractMessage[];
  readonly sources: {
    readonly contract: string;
    readonly private?: string;
    readonly objective?: string;
    readonly prompts: readonly string[];
  };
}

/**
 * Reads, checks and resolves a task contract. All errors of all kinds are given at once, sorted by place, each with file, line and
 * column; warnings come along with them. Never throws for what a user can write.
 */
export async function loadContract(
  request: LoadRequest,
): Promise<Result<LoadedContract, { readonly messages: readonly ContractMessage[] }>> {
  const workspace = resolve(request.workspace);
  const path = resolve(workspace, request.file ?? contractFileName);
  const world: World = {
    workspace,
    path,
    name: nameOf(workspace, path),
    home: request.given.home ?? homedir(),
    request,
  };
  const main =
    request.text === undefined ? await readDocument(path, world.name) : parseContract(request.text, world.name);
  if (!main.ok) return refused({ messages: main.refusal });
  const messages: ContractMessage[] = [...main.value.messages];
  const secret = await readPrivate(main.value, world);
  if (!secret.ok) messages.push(...secret.refusal);
  const merged = mergeSources(main.value, secret.ok ? secret.value?.document : undefined);
  if (secret.ok && secret.value) messages.push(...secret.value.document.messages);
  const found: Problem[] = [...merged.problems];
  const loaded = await understand({ ...world, merged }, (problem) => found.push(problem));
  messages.push(...found.map((problem) => merged.message(problem)));
  const sorted = sortMessages(messages);
  if (!loaded || sorted.some(({ severity }) => severity === 'error')) return refused({ messages: sorted });
  const privateFile = secret.ok && secret.value ? { private: secret.value.path } : {};
  return ok({
    contract: loaded.contract,
    warnings: sorted,
    sources: { contract: path, ...privateFile, ...loaded.sources },
  });
}

interface World {
  readonly workspace: string;
  readonly path: string;
  /** The contract's name in messages. */
  readonly name: string;
  readonly home: string;
  readonly request: LoadRequest;
}

interface MergedWorld extends World {
  readonly merged: MergedSource;
}

/** A file's name as people know it. */
function nameOf(workspace: string, path: string): string {
  const name = below(workspace, path);
  return name === undefined || name === '' || name === '.' ? path : name;
}

const fileMessage = (
  file: string,
  said: { code: ContractCode; what: string; fix: string; line?: number },
): ContractMessage => {
  const line = said.line ?? 1;
  return {
    severity: 'error',
    file,
    line,
    column: 1,
    endLine: line,
    endColumn: 2,
    code: said.code,
    what: said.what,
    fix: said.fix,
    ...(said.line === undefined ? { wholeFile: true } : {}),
  };
};

async function readDocument(path: string, name: string): Promise<Result<ContractDocument, readonly ContractMessage[]>> {
  const text = await readText(path, largestContract);
  if (text.ok) return parseContract(text.value, name);
  const { code, what, fix, line } = text.refusal;
  const smallest =
    code === 'file_missing' && basename(path) === contractFileName
      ? 'Create it. The smallest contract has three keys: objective, candidate and evaluate.'
      : fix;
  return refused([
    fileMessage(name, { code, what: `${name} ${what}`, fix: smallest, ...(line === undefined ? {} : { line }) }),
  ]);
}

/** Reads the file that `private` names, which must lie outside the workspace and name no further one. */
async function readPrivate(
  main: ContractDocument,
  world: World,
): Promise<Result<{ document: ContractDocument; path: string } | undefined, readonly ContractMessage[]>> {
  const named =
    typeof main.value === 'object' && main.value !== null
      ? (main.value as Record<string, unknown>)['private']
      : undefined;
  if (typeof named !== 'string' || named.trim() === '') return ok(undefined);
  const path = absolutePath(named, world);
  const problem = (code: ContractCode, what: string, fix: string) =>
    refused([main.message({ severity: 'error', code, path: ['private'], what, fix })]);
  if (below(await realOf(world.workspace), await realOf(path)) !== undefined) {
    return problem(
      'private_in_workspace',
      `\`private\`: ${named} lies in the workspace, where agents can read it`,
      'Move it out of the workspace, such as to ~/.config/hma/.',
    );
  }
  const text = await readText(path, largestContract);
  if (!text.ok) return problem(text.refusal.code, `\`private\`: ${named} ${text.refusal.what}`, text.refusal.fix);
  const document = parseContract(text.value, path);
  if (!document.ok) return document;
  const { value } = document.value;
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return refused([
      fileMessage(path, {
        code: 'wrong_type',
        what: 'the private file must be a mapping of keys and values',
        fix: 'Write keys of hma.yaml into it, such as grade: or metric:.',
      }),
    ]);
  if (Object.hasOwn(value, 'private'))
    return refused([
      document.value.message({
        severity: 'error',
        code: 'private_in_private',
        path: ['private'],
        at: 'key',
        what: 'the private file names another private file',
        fix: 'Keep all private keys in one file.',
      }),
    ]);
  return ok({ document: document.value, path });
}

interface Understood {
  readonly contract: Contract;
  readonly sources: Omit<LoadedContract['sources'], 'contract' | 'private'>;
}

/** Values for required keys that are missing or wrong, so that the rest can be checked all the same. */
const placeholders: Readonly<Record<string, unknown>> = {
  objective: 'unknown',
  candidate: 'unknown',
  evaluate: ['unknown'],
};

async function understand(world: MergedWorld, report: Report): Promise<Understood | undefined> {
  const { merged } = world;
  const parsed = contractSource.safeParse(merged.value);
  if (parsed.success) return resolveAndCheck(parsed.data, new Set(), { world, report });
  const problems = sayIssues(parsed.error.issues, contractSource, merged.value);
  problems.filter((problem) => !isMisspelt(problem, problems)).forEach(report);
  if (typeof merged.value !== 'object' || merged.value === null || Array.isArray(merged.value)) return undefined;
  const bad = new Set(problems.map(({ path }) => String(path[0])));
  const kept = Object.fromEntries(Object.entries(merged.value).filter(([key]) => !bad.has(key)));
  const fillers = Object.fromEntries(Object.entries(placeholders).filter(([key]) => bad.has(key)));
  const rest = contractSource.safeParse({ ...kept, ...fillers });
  return rest.success ? resolveAndCheck(rest.data, bad, { world, report }) : undefined;
}

/** Problems that another key decides too: where that one is known to be wrong, they would only mislead. */
const dependsOn: Readonly<Record<string, readonly string[]>> = {
  blind_without_grade: ['grade'],
  timeout_too_long: ['budgets', 'policy'],
  grace_too_long: ['budgets', 'policy'],
  review_too_long: ['policy'],
  until_too_near: ['policy'],
  names_no_file: ['protected'],
  file_missing: ['candidate'],
  evaluator_in_candidate: ['candidate'],
  hidden_in_workspace: ['isolation'],
  binds_need_bubblewrap: ['isolation'],
};

/** What agents must not know, and could read in the contract where nothing hides it. */
const secrets: readonly KeyPath[] = [['grade'], ['metric', 'thresholds'], ['policy', 'cap'], ['evaluate', 'hidden']];

function checkSecrets(contract: Contract, merged: MergedSource, report: Report): void {
  if (contract.isolation.tier !== 'none') return;
  for (const path of secrets.filter((secret) => merged.standsInMain(secret))) {
    report({
      severity: 'warning',
      code: 'agents_can_read',
      path,
      at: 'key',
      what: `without isolation agents can read \`${path.join('.')}\` here`,
      fix: 'Move it to a file outside the workspace that `private` names, or allow isolation.',
    });
  }
}

/** Everything after the schema. Problems under keys that are already known to be wrong are not reported again. */
async function resolveAndCheck(
  source: ContractSource,
  bad: ReadonlySet<string>,
  { world, report }: { world: MergedWorld; report: Report },
): Promise<Understood> {
  const said: Report = (problem) => {
    const roots = [String(problem.path[0]), ...(dependsOn[problem.code] ?? [])];
    if (!roots.some((root) => bad.has(root))) report(problem);
  };
  const texts = await readTexts(source, world, said);
  const facts = {
    workspace: world.workspace,
    home: world.home,
    defaultName: basename(world.workspace) || 'task',
    ...texts,
  };
  const written = resolveContract(source, facts, said);
  const kindOf = await lookAt(written, world.workspace);
  const contractFile = below(world.workspace, world.path);
  const own = [
    contractFile,
    texts.sources.objective === undefined ? undefined : below(world.workspace, texts.sources.objective),
  ].filter((path) => path !== undefined);
  checkContract(
    { ...written, protected: [...written.protected, ...own] },
    { contractFile, kindOf, wall: world.request.given.wall, isWritten: (path) => world.merged.isWritten(path) },
    said,
  );
  checkAgents(written, world.request.given, said);
  const named = checkCommands(written, { workspace: world.workspace, kindOf }, said);
  await checkHidden(written, world.workspace, said);
  const contract = { ...written, protected: [...new Set([...own, ...written.protected, ...named])] };
  checkSecrets(contract, world.merged, said);
  return { contract, sources: texts.sources };
}
