import { access, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { ok, refused, type Result } from '../../base/result.ts';
import type { AgentChoice } from '../../task/model.ts';
import { workspaceInstructions } from '../claudeCode/instructions.ts';
import { credentialOf } from '../credential.ts';
import { findHarness, findInstalled, type HarnessSearch } from '../harnessProgram.ts';
import { asPrompt } from '../promptText.ts';
import type { AgentAdapter, Harness, Launch, PrepareRefusal, SessionContext } from '../port.ts';
import { withPreset } from '../presets.ts';
import { classifyQwen } from './classify.ts';
import { qwenResponses } from './responses.ts';
import { sayQwen } from './said.ts';
import { settingsFor } from './settings.ts';

const keys = ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY'];

/** Where a key of Alibaba Cloud Model Studio is good for, and where any other one. */
const dashScope = 'https://dashscope.aliyuncs.com/compatible-mode/v1';
const openAi = 'https://api.openai.com/v1';

const product = {
  program: 'qwen',
  title: 'Qwen Code',
  install: 'npm install -g @qwen-code/qwen-code@latest',
} as const;

const search = (
  agent: Pick<AgentChoice, 'name' | 'program'>,
  given: Pick<HarnessSearch, 'cwd' | 'environment'>,
): HarnessSearch => ({ ...product, agent, ...given });

/** What `qwen` names is a launcher that dies of a signal and leaves the agent behind: the agent's own script is started. */
async function withoutLauncher(argv: readonly [string, ...string[]]): Promise<[string, ...string[]]> {
  const [node, script] = argv;
  if (script === undefined || !script.endsWith('/cli-entry.js')) return [...argv];
  const agent = join(dirname(script), 'cli.js');
  const there = await access(agent).then(
    () => true,
    () => false,
  );
  return there ? [node, '--expose-gc', agent] : [...argv];
}

async function prepare(given: SessionContext): Promise<Result<Launch, PrepareRefusal>> {
  const chosen = withPreset(given.agent);
  if (!chosen.ok) return refused({ reason: 'not_configured', detail: chosen.refusal.detail });
  const context = { ...given, agent: chosen.value };
  const { agent, outerEnvironment: outer } = context;
  const not = notPossible(context);
  if (not !== null) return refused({ reason: 'not_configured', detail: `agent ${agent.name}: ${not}` });
  const program = await findHarness(search(agent, { cwd: context.workspace, environment: outer }));
  if (!program.ok) return program;
  const credential = await credentialOf(context, { keys, login: null });
  if (!credential.ok) return credential;
  const { variable, value } = credential.value.kind === 'key' ? credential.value : { variable: '', value: '' };
  await writeSettings(context);
  return ok({
    argv: [...(await withoutLauncher(program.value.argv)), ...flagsOf(context)],
    environment: {
      OPENAI_API_KEY: value,
      OPENAI_BASE_URL: agent.baseUrl ?? (variable === 'DASHSCOPE_API_KEY' ? dashScope : openAi),
      QWEN_CODE_NO_RELAUNCH: '1',
      QWEN_HOME: join(context.home, '.qwen'),
      ...(process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' }),
    },
    stdin: asPrompt(context.prompt),
    readable: program.value.readable,
    writable: [],
  });
}

function notPossible({ agent, home, outerEnvironment: outer }: SessionContext): string | null {
  if (home === outer['HOME'])
    return "Qwen Code can't be used in your own HOME, since only settings in a HOME of the session keep the workspace's settings out; set `isolation.ownHome: true`";
  if (agent.tools === 'mcp')
    return 'Qwen Code connects to no MCP server in a folder that it does not trust, and a trusted one could take it over; use `tools: shell`';
  return null;
}

/** The settings, and what the workspace's instruction files say: of a folder that it does not trust it reads none. */
async function writeSettings(context: SessionContext): Promise<void> {
  const folder = join(context.home, '.qwen');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'settings.json'), JSON.stringify(settingsFor(context), null, 2), { mode: 0o644 });
  const instructions = await workspaceInstructions(context.workspace, ['QWEN.md', 'AGENTS.md']);
  if (instructions !== null) await writeFile(join(folder, 'QWEN.md'), instructions, { mode: 0o644 });
}

const flagsOf = (context: SessionContext): string[] => [
  ...['--output-format', 'stream-json', '--auth-type', 'openai', '--session-id', context.sessionId],
  ...['--approval-mode', 'default'],
  ...(context.role === 'review' ? ['--include-directories', context.workspace] : []),
  ...(context.agent.model === undefined ? [] : ['--model', context.agent.model]),
];

const harness: Harness = {
  ...product,
  tested: ['0.24.4'],
  keys,
  login: null,
  find: (choice, environment) => findInstalled(search(choice, { cwd: '/', environment })),
};

/** Alibaba's Qwen Code, headless, with any OpenAI-compatible provider: docs/agents/qwen.md. */
export const qwenAdapter: AgentAdapter = {
  name: 'qwen',
  capabilities: {
    structuredEvents: true,
    steering: false,
    cleanInterrupt: false,
    sessionId: 'given',
    tokens: 'disk',
    cost: false,
    effort: true,
    goal: 'reprompt',
    mcp: false,
  },
  politeSignal: 'SIGTERM',
  politeTo: 'tree',
  graceMs: 5000,
  lingerMs: 1000,
  prepare,
  classify: classifyQwen,
  harness,
  responses: qwenResponses,
  say: sayQwen,
};
