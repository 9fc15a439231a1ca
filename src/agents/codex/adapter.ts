import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { ok, refused, type Result } from '../../base/result.ts';
import type { AgentChoice } from '../../task/model.ts';
import { credentialOf } from '../credential.ts';
import type { Drive } from '../driver.ts';
import { besideProgram, findHarness, findInstalled, type HarnessSearch } from '../harnessProgram.ts';
import type { AgentAdapter, Harness, Launch, PrepareRefusal, SessionContext } from '../port.ts';
import { withPreset } from '../presets.ts';
import { classifyCodex } from './classify.ts';
import type { DriveSettings } from './driver.ts';
import { codexLogin } from './login.ts';
import { codexResponses } from './responses.ts';
import { sayCodex } from './said.ts';
import { configArguments, configToml, isSandboxed, settingsFor } from './settings.ts';

/** The first is what Codex's makers call it in their documentation. */
const keys = ['OPENAI_API_KEY', 'CODEX_API_KEY'];

/** The native binary of each platform, beside the npm wrapper. Source: bin/codex.js of @openai/codex. */
const natives: readonly string[] = [
  ['linux-x64', 'x86_64-unknown-linux-musl'],
  ['linux-arm64', 'aarch64-unknown-linux-musl'],
  ['darwin-x64', 'x86_64-apple-darwin'],
  ['darwin-arm64', 'aarch64-apple-darwin'],
]
  .filter(([platform]) => platform === `${process.platform}-${process.arch}`)
  .map(([platform, triple]) => `@openai/codex-${platform}/vendor/${triple}/bin/codex`);

/** Longer than the waits of a provider that has a bad minute; shorter than what a night may lose unseen, ms. */
const patienceMs = 180_000;

const product = { program: 'codex', title: 'Codex', install: 'npm install -g @openai/codex@latest' } as const;

const search = (
  agent: Pick<AgentChoice, 'name' | 'program'>,
  given: Pick<HarnessSearch, 'cwd' | 'environment'>,
): HarnessSearch => ({
  ...product,
  agent,
  ...given,
  native: (program) => besideProgram(program, natives),
});

/** In goal mode the whole task is the first message; the goal only says to go on with it, since it may not be longer than 4,000 characters. */
const goalOf = ({ promptFile }: SessionContext): string =>
  `Carry out the task of the first message of this thread as far as you possibly can, and go on improving the result until nothing more can be gained or you are stopped. The same task is in ${promptFile}.`;

/**
 * In a HOME of its own Codex finds a configuration that was made for the session, and no workspace is trusted in it: `.codex` of the
 * workspace (settings, hooks, MCP servers) is not obeyed, AGENTS.md is read. In the user's own HOME the user's configuration counts,
 * ours above it; a workspace that is trusted there would be obeyed, so it is declared untrusted for the session, with which Codex
 * reads no AGENTS.md either: then we hand it over.
 */
async function prepare(given: SessionContext): Promise<Result<Launch, PrepareRefusal>> {
  const chosen = withPreset(given.agent);
  if (!chosen.ok) return refused({ reason: 'not_configured', detail: chosen.refusal.detail });
  const context = { ...given, agent: chosen.value };
  const { agent, home, cwd, outerEnvironment: outer } = context;
  const program = await findHarness(search(agent, { cwd: context.workspace, environment: outer }));
  if (!program.ok) return program;
  const credential = await credentialOf(context, { keys, login: codexLogin });
  if (!credential.ok) return credential;
  const key = credential.value.kind === 'key' ? credential.value : null;
  const settings = settingsFor(context, { baseUrl: agent.baseUrl ?? null, keyVariable: key?.variable ?? null });
  const codexHome = join(home, '.codex');
  const own = home !== outer['HOME'];
  await mkdir(codexHome, { recursive: true, mode: 0o700 });
  if (own) await writeFile(join(codexHome, 'config.toml'), configToml(settings), { mode: 0o600 });
  const untrusted = [[['projects', cwd, 'trust_level'], 'untrusted']] as const;
  const [file, ...args] = program.value.argv;
  const drive: Drive = {
    argv: [file, ...args, 'app-server', ...(own ? [] : configArguments([...settings, ...untrusted]))],
    cwd,
    prompt: context.prompt,
    inbox: context.inbox,
    settings: {
      goal: context.mode === 'single' ? goalOf(context) : null,
      effortGiven: agent.effort !== undefined,
      patienceMs,
      expected: {
        modelProvider: key || agent.baseUrl !== undefined ? 'hma' : null,
        sandbox: isSandboxed(context) ? 'workspaceWrite' : 'dangerFullAccess',
      },
      instructions: own ? null : await instructionsIn(cwd),
    } satisfies DriveSettings,
  };
  const [node, bundle] = context.drive;
  return ok({
    argv: [node, bundle, 'codex'],
    environment: {
      CODEX_HOME: codexHome,
      ...(key && { [key.variable]: key.value }),
      ...(process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' }),
    },
    stdin: JSON.stringify(drive),
    readable: [...new Set([...program.value.readable, dirname(bundle), dirname(node)])],
    writable: [],
  });
}

/** AGENTS.md of a folder in the form in which Codex hands it over; null where there is none. */
async function instructionsIn(folder: string): Promise<string | null> {
  const text = await readFile(join(folder, 'AGENTS.md'), 'utf8').catch(() => '');
  if (text.trim() === '') return null;
  return `# AGENTS.md instructions for ${folder}\n\n<INSTRUCTIONS>\n${text}\n</INSTRUCTIONS>`;
}

const harness: Harness = {
  ...product,
  tested: ['0.171.0'],
  keys,
  login: codexLogin,
  find: (choice, environment) => findInstalled(search(choice, { cwd: '/', environment })),
};

/** OpenAI's Codex CLI, driven through its app-server: docs/agents/codex.md. */
export const codexAdapter: AgentAdapter = {
  name: 'codex',
  capabilities: {
    structuredEvents: true,
    steering: true,
    cleanInterrupt: true,
    sessionId: 'reported',
    tokens: 'disk',
    cost: false,
    effort: true,
    goal: 'native',
    mcp: true,
  },
  politeSignal: 'SIGTERM',
  politeTo: 'program',
  graceMs: 10_000,
  lingerMs: 1000,
  prepare,
  classify: classifyCodex,
  harness,
  responses: codexResponses,
  say: sayCodex,
};
