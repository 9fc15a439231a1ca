import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { findProgram, programFolders } from '../../base/program.ts';
import { ok, refused, type Result } from '../../base/result.ts';
import type { AgentAdapter, Launch, PrepareRefusal, SessionContext } from '../port.ts';
import { classifyCommand } from './failure.ts';
import { responses } from './responses.ts';

/** Linux takes no longer single argument (MAX_ARG_STRLEN: 32 pages, the closing zero included), bytes. */
const argumentLimit = 131_071;

/** The arguments with the prompt in its place. What the prompt itself contains is never replaced again. */
function argumentsOf(context: SessionContext, command: readonly [string, ...string[]]): string[] {
  const [, ...given] = command;
  const filled = given.map((argument) =>
    argument.replace(/\{prompt(File)?\}/gu, (_, file?: string) => (file ? context.promptFile : context.prompt)),
  );
  const placed = given.some((argument) => argument.includes('{prompt}'));
  return context.agent.prompt === 'argument' && !placed ? [...filled, context.prompt] : filled;
}

/** A script of the workspace is meant from there, also in the final review, whose working folder is another. */
async function inReview(context: SessionContext, argv: readonly string[]): Promise<string[]> {
  if (context.cwd === context.workspace) return [...argv];
  const placed = argv.map((argument) => join(context.workspace, argument));
  const found = await Promise.all(placed.map((path) => stat(path).catch(() => null)));
  return argv.map((argument, index) =>
    !isAbsolute(argument) && !argument.startsWith('-') && found[index]?.isFile()
      ? (placed[index] ?? argument)
      : argument,
  );
}

/** Files that the command names by absolute path: a script below a hidden HOME must be readable to be run. */
async function namedFiles(argv: readonly string[]): Promise<string[]> {
  const absolute = argv.filter((argument) => isAbsolute(argument) && argument.length < 4096);
  const found = await Promise.all(absolute.map((path) => stat(path).catch(() => null)));
  return absolute.filter((_, index) => found[index]?.isFile());
}

async function prepare(context: SessionContext): Promise<Result<Launch, PrepareRefusal>> {
  const { agent } = context;
  if (!agent.command) {
    const detail = `agent ${agent.name} uses the adapter \`command\` but names no command; add \`command: [program, argument, ...]\``;
    return refused({ reason: 'not_configured', detail });
  }
  const program = await findProgram(agent.command[0], {
    path: context.outerEnvironment['PATH'],
    cwd: context.workspace,
  });
  if (!program.ok)
    return refused({ reason: 'not_installed', detail: `agent ${agent.name} can't start: ${program.refusal.detail}` });
  const argv = await inReview(context, argumentsOf(context, agent.command));
  const tooLong = argv.find((argument) => Buffer.byteLength(argument) > argumentLimit);
  if (tooLong !== undefined || argv.some((argument) => argument.includes('\0'))) {
    const what = tooLong === undefined ? 'holds a zero byte' : 'is longer than the 128 KiB that one argument may have';
    const detail = `the prompt of agent ${agent.name} ${what}; hand it over with \`prompt: file\` or \`prompt: stdin\``;
    return refused({ reason: 'not_configured', detail });
  }
  const folders = [
    ...(await programFolders(program.value, context.outerEnvironment['HOME'])),
    ...(await namedFiles(argv)),
  ];
  return ok({
    argv: [program.value, ...argv],
    environment: {},
    ...(agent.prompt === 'stdin' ? { stdin: context.prompt } : {}),
    // what lies in the workspace is writable already, and must stay so (a virtual environment that the agent installs into)
    readable: folders.filter((folder) => folder !== context.workspace && !folder.startsWith(`${context.workspace}/`)),
    writable: [],
  });
}

/**
 * Any program that works in a folder and exits. The prompt reaches it by file (HMA_PROMPT names it), as an argument (`{prompt}`
 * and `{promptFile}` in the command are replaced; `prompt: argument` without `{prompt}` appends it) or on stdin. Exit code 0 is
 * its natural end. It can tell what its model calls used (reported.ts) and why it gives up (failure.ts) by lines of JSON on its output. A relative program path is meant from the workspace; plain `node` is what `findProgram` says.
 */
export const commandAdapter: AgentAdapter = {
  name: 'command',
  capabilities: {
    structuredEvents: false,
    steering: false,
    cleanInterrupt: false,
    sessionId: 'none',
    tokens: 'stream',
    cost: false,
    effort: false,
    goal: 'reprompt',
    mcp: false,
  },
  politeSignal: 'SIGTERM',
  politeTo: 'tree',
  graceMs: 5000,
  lingerMs: 1000,
  prepare,
  classify: classifyCommand,
  responses,
};
