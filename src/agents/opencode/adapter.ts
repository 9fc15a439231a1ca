import { access } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import { ok, refused, type Result } from '../../base/result.ts';
import type { AgentChoice } from '../../task/model.ts';
import { credentialOf } from '../credential.ts';
import type { Drive } from '../driver.ts';
import { findHarness, findInstalled, type HarnessSearch } from '../harnessProgram.ts';
import type { AgentAdapter, Harness, Launch, LoginPlan, PrepareRefusal, SessionContext } from '../port.ts';
import { withPreset } from '../presets.ts';
import { fieldsOf } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import { classifyOpencode } from './classify.ts';
import { opencodeResponses } from './responses.ts';
import { sayOpencode } from './said.ts';
import { modelOf, ownKey, settingsFor } from './settings.ts';
import { workspacePlugins } from './workspacePlugins.ts';

/** Variables that hold the key of a model's provider, `provider/model`. Source: models.dev. */
const keysOf: Readonly<Record<string, readonly string[]>> = {
  opencode: ['OPENCODE_API_KEY'],
  anthropic: ['ANTHROPIC_API_KEY'],
  openai: ['OPENAI_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
  openrouter: ['OPENROUTER_API_KEY'],
  deepseek: ['DEEPSEEK_API_KEY'],
};
const keys = Object.values(keysOf).flat();

const authFile = '.local/share/opencode/auth.json';

/** `opencode auth login` asks for a provider and its key or sign-in. */
const login: LoginPlan = {
  argv: ['opencode', 'auth', 'login'],
  environment: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  files: [authFile],
  wellFormed: (_, content) => Object.keys(fieldsOf(parseJsonLine(content))).length > 0,
};

const product = {
  program: 'opencode',
  title: 'opencode',
  install: 'npm install -g opencode-ai@latest',
} as const;

const search = (
  agent: Pick<AgentChoice, 'name' | 'program'>,
  given: Pick<HarnessSearch, 'cwd' | 'environment'>,
): HarnessSearch => ({ ...product, agent, ...given });

async function prepare(given: SessionContext): Promise<Result<Launch, PrepareRefusal>> {
  const chosen = withPreset(given.agent);
  if (!chosen.ok) return refused({ reason: 'not_configured', detail: chosen.refusal.detail });
  const context = { ...given, agent: chosen.value };
  const { agent, outerEnvironment: outer } = context;
  const plugins = await workspacePlugins(context.workspace);
  const not = notPossible(context, plugins);
  if (not !== null) return refused({ reason: 'not_configured', detail: `agent ${agent.name}: ${not}` });
  const program = await findHarness(search(agent, { cwd: context.workspace, environment: outer }));
  if (!program.ok) return program;
  const provider = agent.model?.split('/')[0] ?? '';
  const credential = await credentialOf(context, { keys: keysOf[provider] ?? keys, login });
  if (!credential.ok) return credential;
  const [node, bundle] = context.drive;
  const [file, ...args] = program.value.argv;
  const drive: Drive = {
    argv: [file, ...args, ...flagsOf(context)],
    cwd: context.cwd,
    prompt: context.prompt,
    inbox: context.inbox,
    settings: {},
  };
  const key =
    credential.value.kind === 'key'
      ? { [agent.baseUrl === undefined ? credential.value.variable : ownKey]: credential.value.value }
      : {};
  return ok({
    argv: [node, bundle, 'opencode'],
    environment: {
      ...key,
      ...quiet,
      ...(agent.baseUrl === undefined ? {} : { OPENCODE_DISABLE_MODELS_FETCH: '1' }),
      OPENCODE_CONFIG_CONTENT: JSON.stringify(settingsFor(context, await instructionsOf(context.workspace))),
      ...(process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' }),
    },
    stdin: JSON.stringify(drive),
    readable: [...new Set([...program.value.readable, dirname(bundle), dirname(node)])],
    writable: [],
    hidden: plugins, // what one agent left there must neither run in the next one's session nor keep it from its turn
  });
}

/** Always: nothing of the workspace but its instruction files, no updates, no downloads of language servers. */
const quiet = {
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  OPENCODE_PURE: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  OPENCODE_DISABLE_CLAUDE_CODE: '1',
};

function notPossible({ agent, workspace, hides }: SessionContext, plugins: readonly string[]): string | null {
  if (agent.baseUrl !== undefined && agent.model === undefined)
    return '`baseUrl` needs a `model`, as that endpoint names it';
  if (hides || plugins.length === 0) return null;
  const named = plugins
    .map((file) => relative(workspace, file))
    .slice(0, 3)
    .join(', ');
  return `the workspace has plugins for opencode (${named}), which it would run whatever it is told, before it asks anybody; look at them, and move them away`;
}

/** Instruction files of the workspace, absolute: without its settings opencode finds none by itself. */
async function instructionsOf(workspace: string): Promise<string[]> {
  const files = ['AGENTS.md', 'CLAUDE.md'].map((name) => join(workspace, name));
  const there = await Promise.all(
    files.map((file) =>
      access(file).then(
        () => true,
        () => false,
      ),
    ),
  );
  return files.filter((_, index) => there[index]);
}

function flagsOf(context: SessionContext): string[] {
  const { agent } = context;
  const model = modelOf(context);
  return [
    ...['run', '--format', 'json', '--print-logs', '--log-level', 'ERROR', '--title', 'hma'],
    ...(model === undefined ? [] : ['--model', model]),
    ...(agent.baseUrl === undefined ? ['--variant', agent.effort ?? 'max'] : []),
  ];
}

const harness: Harness = {
  ...product,
  tested: ['1.18.33'],
  keys,
  login,
  find: (choice, environment) => findInstalled(search(choice, { cwd: '/', environment }), quiet),
};

/** opencode, one `run` a session, with any of its providers or an OpenAI-compatible one: docs/agents/opencode.md. */
export const opencodeAdapter: AgentAdapter = {
  name: 'opencode',
  capabilities: {
    structuredEvents: true,
    steering: false,
    cleanInterrupt: false,
    sessionId: 'reported',
    tokens: 'disk',
    cost: false,
    effort: true,
    goal: 'reprompt',
    mcp: true,
  },
  politeSignal: 'SIGTERM',
  politeTo: 'program',
  graceMs: 6000,
  lingerMs: 1000,
  prepare,
  classify: classifyOpencode,
  harness,
  responses: opencodeResponses,
  say: sayOpencode,
};
