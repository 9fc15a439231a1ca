import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { ok, refused, type Result } from '../../base/result.ts';
import type { AgentChoice } from '../../task/model.ts';
import { credentialOf, type Credential } from '../credential.ts';
import { findHarness, findInstalled, type HarnessSearch } from '../harnessProgram.ts';
import type { AgentAdapter, Harness, Launch, PrepareRefusal, SessionContext } from '../port.ts';
import { withPreset } from '../presets.ts';
import { classifyKimi } from './classify.ts';
import { kimiLogin, managedConfig } from './login.ts';
import { kimiResponses } from './responses.ts';
import { sayKimi } from './said.ts';

/** The first is what Moonshot's documentation calls it. */
const keys = ['MOONSHOT_API_KEY', 'KIMI_API_KEY'];

/** Kimi's strongest. Source: `think_efforts` of its list of models (low, high, max). */
const strongest = 'max';

/** Tries of one model call: a hiccup of some seconds is survived. */
const attempts = 4;

/** Linux takes no longer single argument (32 pages, the closing zero and `--prompt=` included); Kimi takes its prompt in no other way. */
const longestPrompt = 131_000;

const product = {
  program: 'kimi',
  title: 'Kimi Code',
  install: 'npm install -g @moonshot-ai/kimi-code@latest',
} as const;

const search = (
  agent: Pick<AgentChoice, 'name' | 'program'>,
  given: Pick<HarnessSearch, 'cwd' | 'environment'>,
): HarnessSearch => ({ ...product, agent, ...given });

/**
 * With a key the model is told in variables, which count more than any file. In a HOME of its own there is no record of trust, so that
 * Kimi starts no MCP server of the workspace; hooks and providers it takes from no workspace. AGENTS.md is read.
 */
async function prepare(given: SessionContext): Promise<Result<Launch, PrepareRefusal>> {
  const chosen = withPreset(given.agent);
  if (!chosen.ok) return refused({ reason: 'not_configured', detail: chosen.refusal.detail });
  const context = { ...given, agent: chosen.value };
  const { agent, outerEnvironment: outer } = context;
  const program = await findHarness(search(agent, { cwd: context.workspace, environment: outer }));
  if (!program.ok) return program;
  const credential = await credentialOf(context, { keys, login: kimiLogin });
  if (!credential.ok) return credential;
  const problem = problemOf(context, credential.value);
  if (problem !== null) return refused({ reason: 'not_configured', detail: `agent ${agent.name}: ${problem}` });
  if (hasOwnHome(context)) await writeHome(context, credential.value);
  const [file, ...args] = program.value.argv;
  const prompt =
    Buffer.byteLength(context.prompt) > longestPrompt
      ? `Your task is in the file ${context.promptFile}. Read all of it and carry it out.`
      : context.prompt;
  return ok({
    argv: [file, ...args, `--prompt=${prompt}`, '--output-format', 'stream-json'],
    environment: {
      KIMI_DISABLE_TELEMETRY: '1',
      KIMI_CODE_NO_AUTO_UPDATE: '1',
      KIMI_DISABLE_CRON: '1',
      KIMI_LOOP_MAX_ATTEMPTS_PER_STEP: String(attempts),
      ...modelIn(agent, credential.value),
      ...(process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' }),
    },
    readable: program.value.readable,
    writable: [],
  });
}

const hasOwnHome = ({ home, outerEnvironment }: SessionContext): boolean => home !== outerEnvironment['HOME'];

/** What can't be had with Kimi, in words for the task's author; null = nothing. */
function problemOf(context: SessionContext, credential: Credential): string | null {
  const { agent, isolated } = context;
  if (agent.permissions === 'limited' || (!isolated && agent.permissions !== 'bypass'))
    return 'Kimi Code asks nobody when it runs unattended, and has no limited mode; choose an isolation tier, or `permissions: bypass`';
  if (credential.kind === 'key' && agent.model === undefined)
    return 'with a key Kimi Code has no model of its own; name one (`model: kimi-k3`), or use `preset: kimi`';
  if (agent.tools === 'mcp' && !hasOwnHome(context))
    return '`tools: mcp` would be written into your own Kimi configuration; give sessions a HOME of their own, or use `tools: shell`';
  return null;
}

/** Variables of the model. `KIMI_MODEL_NAME` alone makes Kimi look at them. */
function modelIn(agent: AgentChoice, credential: Credential): Record<string, string> {
  if (credential.kind === 'login') return {};
  return {
    KIMI_MODEL_NAME: agent.model ?? '',
    KIMI_MODEL_API_KEY: credential.value,
    KIMI_MODEL_THINKING_EFFORT: agent.effort ?? strongest,
    ...(agent.baseUrl === undefined ? {} : { KIMI_MODEL_BASE_URL: agent.baseUrl }),
  };
}

async function writeHome(context: SessionContext, credential: Credential): Promise<void> {
  const folder = join(context.home, '.kimi-code');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (credential.kind === 'login') {
    const { model, baseUrl, effort } = context.agent;
    const config = managedConfig({ model, baseUrl, effort: effort ?? strongest });
    await writeFile(join(folder, 'config.toml'), config, { mode: 0o600 });
  }
  if (context.agent.tools !== 'mcp') return;
  const [node, bundle] = context.drive;
  const server = { command: node, args: [join(dirname(bundle), 'session.js'), 'mcp'], toolTimeoutMs: 3_600_000 };
  await writeFile(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { hma: server } }), { mode: 0o600 });
}

const harness: Harness = {
  ...product,
  tested: ['2.1.0'],
  keys,
  login: kimiLogin,
  find: (choice, environment) => findInstalled(search(choice, { cwd: '/', environment })),
};

/** Moonshot's Kimi Code CLI in its prompt mode: docs/agents/kimi.md. */
export const kimiAdapter: AgentAdapter = {
  name: 'kimi',
  capabilities: {
    structuredEvents: true,
    steering: false,
    cleanInterrupt: true,
    sessionId: 'reported',
    tokens: 'disk',
    cost: false,
    effort: true,
    goal: 'reprompt',
    mcp: true,
  },
  politeSignal: 'SIGTERM',
  politeTo: 'program',
  graceMs: 10_000,
  lingerMs: 1000,
  prepare,
  classify: classifyKimi,
  harness,
  responses: kimiResponses,
  say: sayKimi,
};
