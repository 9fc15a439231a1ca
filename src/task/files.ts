import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';

import type { CheckFacts, FileKind } from './checks.ts';
import { leavesWorkspace } from './checks.ts';
import type { KeyPath } from './document.ts';
import { covers, isGlob } from './globs.ts';
import type { Command, Contract } from './model.ts';
import { plainPath } from './paths.ts';
import { unreadable, type Report } from './programs.ts';

/** The path relative to the workspace, or undefined when it lies outside. '.' is the workspace itself. */
export function below(workspace: string, path: string): string | undefined {
  const way = relative(workspace, path);
  if (way === '') return '.';
  return way === '..' || way.startsWith('../') || isAbsolute(way) ? undefined : way;
}

/** The real path of one that may not exist: its deepest existing folder's, and the rest as written. */
export async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realOf(parent), path.slice(parent.length));
  }
}

/** What is at a path, links followed; undefined where nothing is or nothing may be seen. */
export async function kindAt(path: string): Promise<FileKind | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return undefined;
  return found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other';
}

/** A path that an argument of a command may mean. */
interface Mention {
  readonly argument: number;
  /** Relative to the workspace. */
  readonly path: string;
  readonly absolute: boolean;
}

const interpreters =
  /^(?:.*\/)?(?:python[\d.]*|pypy\d*|node|deno|bun|ruby|perl|Rscript|julia|bash|sh|dash|zsh|lua|php|java|uv|poetry)$/;
const scriptName = /\.(?:py|js|mjs|cjs|ts|mts|rb|pl|R|r|jl|sh|bash|lua|php|jar)$/;

/** The workspace paths that a command's arguments may mean, `--key=path` and `python -m package.module` included. */
function mentions(command: Command, cwd: string, workspace: string): Mention[] {
  return command.flatMap((whole, argument): Mention[] => {
    const value = whole.startsWith('-') ? (whole.includes('=') ? whole.slice(whole.indexOf('=') + 1) : '') : whole;
    if (value === '' || value.includes('://') || value.length > 1_000 || value.includes('\n')) return [];
    if (command[argument - 1] === '-m' && /^[\w.]+$/.test(value)) {
      const module = value.replaceAll('.', '/');
      return [`${module}.py`, `${module}/__main__.py`, module].map((path) => ({
        argument,
        path: join(cwd, path),
        absolute: false,
      }));
    }
    const path = isAbsolute(value)
      ? below(workspace, value)
      : argument === 0 && !value.includes('/')
        ? undefined
        : join(cwd, value);
    return path === undefined || path === '.' || path === '..' || path.startsWith('../')
      ? []
      : [{ argument, path: plainPath(path), absolute: isAbsolute(value) }];
  });
}

/** The part of the contract that has a command. */
type Part = 'evaluate' | 'validate' | 'grade';

const parts = (contract: Contract): { part: Part; command: Command; cwd: string }[] =>
  (['evaluate', 'validate', 'grade'] as const).flatMap((part) => {
    const value = contract[part];
    return value && value.command !== unreadable && !leavesWorkspace(value.cwd)
      ? [{ part, command: value.command, cwd: value.cwd }]
      : [];
  });

/** Looks at every path of the workspace that the checks ask about, once. */
export async function lookAt(contract: Contract, workspace: string): Promise<CheckFacts['kindOf']> {
  const asked = new Set(
    [...contract.candidate, ...contract.protected].filter((path) => !isGlob(path) && !leavesWorkspace(path)),
  );
  for (const { command, cwd } of parts(contract)) {
    if (cwd !== '.') asked.add(cwd);
    for (const { path } of mentions(command, cwd, workspace)) asked.add(path);
  }
  const kinds = new Map(
    await Promise.all([...asked].map(async (path) => [path, await kindAt(join(workspace, path))] as const)),
  );
  return (path) => kinds.get(path);
}

/** What the commands say about the workspace: files to protect, and scripts that don't exist. */
export function checkCommands(
  contract: Contract,
  facts: { workspace: string; kindOf: CheckFacts['kindOf'] },
  report: Report,
): string[] {
  const named = new Set<string>();
  for (const { part, command, cwd } of parts(contract)) {
    if (cwd !== '.' && facts.kindOf(cwd) === undefined && !contract.candidate.some((pattern) => covers(pattern, cwd))) {
      report({
        severity: 'warning',
        code: 'file_missing',
        path: [part, 'cwd'],
        what: `\`${part}.cwd\`: the folder ${cwd} does not exist in the workspace`,
        fix: 'Create it, or correct the path.',
      });
    }
    const found = mentions(command, cwd, facts.workspace).filter(({ path }) => facts.kindOf(path) !== undefined);
    const guarded = guardedBy(contract, part, found, report);
    for (const path of guarded) named.add(path);
    if (found.length === 0) sayMissing(contract, { part, command, cwd }, facts, report);
    else sayMissingScript({ part, command, cwd }, contract, facts, report);
  }
  return [...named];
}

/** Where argument `index` of a part's command stands, whichever form the command has: the locator goes as deep as it can. */
const argumentPath = (part: Part, index: number): KeyPath => [part, 'command', index];

function guardedBy(contract: Contract, part: Part, found: readonly Mention[], report: Report): string[] {
  return found.flatMap(({ path, argument, absolute }) => {
    if (contract.candidate.some((pattern) => pattern === path || covers(path, pattern))) return [];
    const pattern = contract.candidate.find((one) => covers(one, path));
    if (pattern !== undefined) {
      report({
        severity: 'warning',
        code: 'evaluator_in_candidate',
        path: argumentPath(part, argument),
        what: `\`${part}\`: ${path} belongs to the candidate (${pattern}), so agents may change it`,
        fix: 'Move it out of the candidate’s paths, unless it is what agents are to improve.',
      });
      return [];
    }
    if (absolute)
      report({
        severity: 'warning',
        code: 'absolute_in_workspace',
        path: argumentPath(part, argument),
        what: `\`${part}\`: ${path} is named by its absolute path, so the workspace’s copy runs instead of the protected one`,
        fix: `Write ${path}; the command runs in a fresh checkout.`,
      });
    return [path];
  });
}

interface PartCommand {
  readonly part: Part;
  readonly command: Command;
  readonly cwd: string;
}

/** The argument that is surely a script of the workspace: the program itself with a slash, or an interpreter's first plain argument. */
function scriptOf({ command, cwd }: PartCommand): { argument: number; path: string } | undefined {
  const program = command[0];
  const argument = interpreters.test(program)
    ? command.findIndex((value, index) => index > 0 && !value.startsWith('-'))
    : program.includes('/')
      ? 0
      : -1;
  const value = command[argument];
  if (value === undefined || isAbsolute(value) || (argument > 0 && (!scriptName.test(value) || /\s/.test(value))))
    return undefined;
  return { argument, path: plainPath(join(cwd, value)) };
}

/** Reports the script that a command surely means and that doesn't exist; true if it did. */
function sayMissingScript(
  command: PartCommand,
  contract: Contract,
  facts: { kindOf: CheckFacts['kindOf'] },
  report: Report,
): boolean {
  const script = scriptOf(command);
  if (
    !script ||
    facts.kindOf(script.path) !== undefined ||
    contract.candidate.some((pattern) => covers(pattern, script.path))
  )
    return false;
  report({
    severity: 'error',
    code: 'file_missing',
    path: argumentPath(command.part, script.argument),
    what: `\`${command.part}\`: ${script.path} does not exist in the workspace`,
    fix: 'Create it, or correct the path; it is relative to `cwd` in a checkout of the workspace.',
  });
  return true;
}

function sayMissing(
  contract: Contract,
  command: PartCommand,
  facts: { kindOf: CheckFacts['kindOf'] },
  report: Report,
): void {
  if (sayMissingScript(command, contract, facts, report)) return;
  const absolute = command.command.some((argument) => isAbsolute(argument));
  if (command.part !== 'evaluate' || absolute || contract.protected.length > 0) return;
  report({
    severity: 'warning',
    code: 'names_no_file',
    path: ['evaluate'],
    what: '`evaluate` names no file of the workspace, so nothing of the evaluator is protected',
    fix: 'Name the evaluator’s files in the command, or list them under `protected`.',
  });
}

/** Hidden paths must exist and must lie outside the workspace; the state folder too. */
export async function checkHidden(contract: Contract, workspace: string, report: Report): Promise<void> {
  const real = await realOf(workspace);
  for (const part of ['evaluate', 'grade', 'isolation'] as const) {
    for (const [index, path] of (contract[part]?.hidden ?? []).entries()) {
      const place: KeyPath = [part, 'hidden', index];
      if ((await kindAt(path)) === undefined)
        report({
          severity: 'error',
          code: 'file_missing',
          path: place,
          what: `\`${part}.hidden\`: ${path} does not exist`,
          fix: 'Create it, or correct the path.',
        });
      const inside = below(real, await realOf(path));
      const around = below(await realOf(path), real);
      if (around !== undefined)
        report({
          severity: 'error',
          code: 'hides_workspace',
          path: place,
          what: `\`${part}.hidden\`: ${path} contains the workspace, so agents would see nothing`,
          fix: 'Name only what must be hidden.',
        });
      else if (inside !== undefined)
        report({
          severity: contract.isolation.tier === 'none' ? 'error' : 'warning',
          code: 'hidden_in_workspace',
          path: place,
          what: `\`${part}.hidden\`: ${inside} lies in the workspace${contract.isolation.tier === 'none' ? ', and without isolation agents can read it' : '; only the isolation keeps agents from reading it'}`,
          fix: 'Move it out of the workspace.',
        });
    }
  }
  if (contract.state !== null && below(real, await realOf(contract.state)) !== undefined) {
    report({
      severity: 'error',
      code: 'state_in_workspace',
      path: ['state'],
      what: '`state` lies in the workspace, where agents could read and change it',
      fix: 'Name a folder outside, or remove the line.',
    });
  }
}
