import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { ok, refused, type Result } from '../../base/result.ts';
import type { AgentChoice } from '../../task/model.ts';
import { credentialOf, type Credential } from '../credential.ts';
import type { Drive } from '../driver.ts';
import { besideProgram, findHarness, findInstalled, type HarnessSearch } from '../harnessProgram.ts';
import type { AgentAdapter, Harness, Launch, PrepareRefusal, SessionContext } from '../port.ts';
import { withPreset } from '../presets.ts';
import { classifyClaude } from './classify.ts';
import { workspaceInstructions } from './instructions.ts';
import { claudeLogin } from './login.ts';
import { messageText } from './messageText.ts';
import { claudeResponses } from './responses.ts';
import { sayClaude } from './said.ts';

/** API key, bearer token of a gateway, and what `claude setup-token` prints. */
const keys = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'];

const product = {
  program: 'claude',
  title: 'Claude Code',
  install: 'npm install -g @anthropic-ai/claude-code@latest',
} as const;

const search = (
  agent: Pick<AgentChoice, 'name' | 'program'>,
  given: Pick<HarnessSearch, 'cwd' | 'environment'>,
): HarnessSearch => ({ ...product, agent, ...given, native: nativeBinary });

/** npm puts the platform's binary in a package of its own; what is called `claude` is a link to it, or a wrapper where installing was cut short. */
async function nativeBinary(program: string): Promise<string | null> {
  const platform = `${process.platform}-${process.arch}`;
  const names = [platform, `${platform}-musl`].map((each) => `@anthropic-ai/claude-code-${each}/claude`);
  return program.includes('/@anthropic-ai/claude-code/') ? besideProgram(program, names) : null;
}

/** Always: no updates, no telemetry, no memory that outlives the session, no other model than the one that was asked for. */
const quiet = {
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK: '1',
  CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK: '1',
};

/** About a minute of trying again, with growing waits: a hiccup is survived, a dead endpoint is told soon. */
const retries = '6';

async function prepare(given: SessionContext): Promise<Result<Launch, PrepareRefusal>> {
  const chosen = withPreset(given.agent);
  if (!chosen.ok) return refused({ reason: 'not_configured', detail: chosen.refusal.detail });
  const context = { ...given, agent: chosen.value };
  const program = await findHarness(
    search(context.agent, { cwd: context.workspace, environment: context.outerEnvironment }),
  );
  if (!program.ok) return program;
  const credential = await credentialOf(context, { keys, login: claudeLogin });
  if (!credential.ok) return credential;
  const [node, bundle] = context.drive;
  const [file, ...args] = program.value.argv;
  const drive: Drive = {
    argv: [file, ...args, ...(await flagsOf(context))],
    cwd: context.cwd,
    prompt: promptOf(context),
    inbox: context.inbox,
    settings: {},
  };
  return ok({
    argv: [node, bundle, 'claude-code'],
    environment: environmentOf(context, credential.value),
    stdin: JSON.stringify(drive),
    readable: [...new Set([...program.value.readable, dirname(bundle), dirname(node)])],
    writable: [],
  });
}

/**
 * In goal mode Claude Code goes on until a judge model finds the condition fulfilled. A condition may have 4,000 characters, so the task
 * itself is read from its file.
 */
const promptOf = ({ mode, role, prompt, promptFile }: SessionContext): string =>
  mode === 'single' && role === 'explore'
    ? `/goal Your task is described in the file ${promptFile}: read all of it first. Work on it and go on improving the result until its time is over. The condition is fulfilled only when the output of \`hma status\`, run at the end, has shown that no time is left; a good result, a finished plan or a lack of ideas does not fulfil it.`
    : messageText(prompt);

async function flagsOf(context: SessionContext): Promise<string[]> {
  const { agent, home, outerEnvironment: outer } = context;
  const instructions = await workspaceInstructions(context.workspace);
  const file = join(context.tmp, 'workspace-instructions.md');
  if (instructions !== null) await writeFile(file, instructions, { mode: 0o644 });
  // the user's own HOME is used because its settings are wanted; the workspace's never are
  const sources = home === outer['HOME'] ? 'user' : '';
  return [
    '-p',
    ...['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
    ...['--session-id', context.sessionId],
    `--setting-sources=${sources}`,
    '--strict-mcp-config',
    ...(agent.tools === 'mcp' ? [`--mcp-config=${JSON.stringify(mcpServers(context))}`] : []),
    ...(instructions === null ? [] : ['--append-system-prompt-file', file]),
    ...(agent.model === undefined ? [] : ['--model', agent.model]),
    ...['--effort', agent.effort ?? 'max'],
    ...permissionFlags(context),
  ];
}

const mcpServers = ({ drive: [node, bundle] }: SessionContext): unknown => ({
  mcpServers: {
    hma: { type: 'stdio', command: node, args: [join(dirname(bundle), 'session.js'), 'mcp'], alwaysLoad: true },
  },
});

const bypasses = ({ agent, isolated }: SessionContext): boolean =>
  agent.permissions === 'bypass' || (agent.permissions !== 'limited' && isolated);

/** Limited: commands run, files are edited in the workspace only, and what would be asked for is refused. */
function permissionFlags(context: SessionContext): string[] {
  if (bypasses(context)) return ['--dangerously-skip-permissions'];
  const places = [...new Set([context.workspace, context.cwd, context.tmp])];
  const allowed = ['Bash', 'Read', ...places.map((place) => `Edit(/${place}/**)`), 'WebSearch', 'WebFetch', 'mcp__hma'];
  return ['--permission-mode', 'dontAsk', `--allowedTools=${allowed.join(',')}`];
}

function environmentOf(context: SessionContext, credential: Credential): Record<string, string> {
  const { agent, outerEnvironment: outer } = context;
  const own = (name: string, value: string): Record<string, string> => ({
    [name]: (agent.environment.includes(name) ? outer[name] : undefined) ?? value,
  });
  const asRoot = process.getuid?.() === 0 && bypasses(context);
  return {
    ...quiet,
    ...own('CLAUDE_CODE_MAX_RETRIES', retries),
    CLAUDE_CODE_TMPDIR: context.tmp,
    ...(asRoot ? { IS_SANDBOX: '1' } : {}), // without it root may not bypass
    ...(agent.baseUrl === undefined ? {} : { ANTHROPIC_BASE_URL: agent.baseUrl }),
    ...(agent.baseUrl === undefined || agent.model === undefined ? {} : modelsFor(agent.model)),
    ...keyFor(context, credential),
    ...(process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' }),
  };
}

/** Sub-agents and small requests ask for models by their kind: at another endpoint these names mean nothing. */
const modelsFor = (model: string): Record<string, string> => ({
  ANTHROPIC_DEFAULT_OPUS_MODEL: model,
  ANTHROPIC_DEFAULT_SONNET_MODEL: model,
  ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  CLAUDE_CODE_SUBAGENT_MODEL: model,
});

/** The variable through which Claude Code reads a key: by its own name, as a login's token, or as other providers take theirs (bearer). */
function keyFor({ agent }: SessionContext, credential: Credential): Record<string, string> {
  if (credential.kind === 'login') return {};
  const { variable, value } = credential;
  if (keys.includes(variable)) return { [variable]: value };
  if (value.startsWith('sk-ant-oat')) return { CLAUDE_CODE_OAUTH_TOKEN: value };
  return { [agent.baseUrl === undefined ? 'ANTHROPIC_API_KEY' : 'ANTHROPIC_AUTH_TOKEN']: value };
}

const harness: Harness = {
  ...product,
  tested: ['2.1.332'],
  keys,
  login: claudeLogin,
  find: (choice, environment) => findInstalled(search(choice, { cwd: '/', environment }), { DISABLE_AUTOUPDATER: '1' }),
};

/** Anthropic's Claude Code in print mode over stream-json: docs/agents/claude-code.md. */
export const claudeCodeAdapter: AgentAdapter = {
  name: 'claude-code',
  capabilities: {
    structuredEvents: true,
    steering: true,
    cleanInterrupt: true,
    sessionId: 'given',
    tokens: 'disk',
    cost: true,
    effort: true,
    goal: 'native',
    mcp: true,
  },
  politeSignal: 'SIGTERM',
  politeTo: 'program',
  graceMs: 10_000,
  lingerMs: 1000,
  prepare,
  classify: classifyClaude,
  harness,
  responses: claudeResponses,
  say: sayClaude,
};
