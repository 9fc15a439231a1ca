import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { ok, refused, type Result } from '../../base/result.ts';
import type { AgentChoice } from '../../task/model.ts';
import { credentialOf } from '../credential.ts';
import { findHarness, findInstalled, type HarnessSearch } from '../harnessProgram.ts';
import { asPrompt } from '../promptText.ts';
import type { AgentAdapter, Harness, Launch, PrepareRefusal, SessionContext } from '../port.ts';
import { withPreset } from '../presets.ts';
import { classifyGemini } from './classify.ts';
import { geminiResponses } from './responses.ts';
import { sayGemini } from './said.ts';
import { isBypassed, settingsFor } from './settings.ts';

const keys = ['GEMINI_API_KEY', 'GOOGLE_API_KEY'];

const product = {
  program: 'gemini',
  title: 'Gemini CLI',
  install: 'npm install -g @google/gemini-cli@latest',
} as const;

/** Where its requests go unless the author says otherwise; named, so that no file can name another. */
const usualBaseUrl = 'https://generativelanguage.googleapis.com';

const search = (
  agent: Pick<AgentChoice, 'name' | 'program'>,
  given: Pick<HarnessSearch, 'cwd' | 'environment'>,
): HarnessSearch => ({ ...product, agent, ...given });

async function prepare(given: SessionContext): Promise<Result<Launch, PrepareRefusal>> {
  const chosen = withPreset(given.agent);
  if (!chosen.ok) return refused({ reason: 'not_configured', detail: chosen.refusal.detail });
  const context = { ...given, agent: chosen.value };
  const { agent, outerEnvironment: outer } = context;
  if (context.home === outer['HOME']) {
    const detail = `agent ${agent.name}: Gemini CLI can't be used in your own HOME, since only settings in a HOME of the session keep the workspace's settings out; set \`isolation.ownHome: true\``;
    return refused({ reason: 'not_configured', detail });
  }
  const program = await findHarness(search(agent, { cwd: context.workspace, environment: outer }));
  if (!program.ok) return program;
  const credential = await credentialOf(context, { keys, login: null });
  if (!credential.ok) return credential;
  const folder = join(context.home, '.gemini');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'settings.json'), JSON.stringify(settingsFor(context), null, 2), { mode: 0o644 });
  const [file, ...args] = program.value.argv;
  const key = credential.value.kind === 'key' ? { GEMINI_API_KEY: credential.value.value } : {};
  return ok({
    argv: [file, ...args, ...flagsOf(context)],
    environment: {
      ...key,
      GOOGLE_GEMINI_BASE_URL: agent.baseUrl ?? usualBaseUrl,
      GEMINI_CLI_NO_RELAUNCH: 'true', // its wrapper ignores signals
      ...(process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' }),
    },
    stdin: asPrompt(context.prompt),
    readable: program.value.readable,
    writable: [],
  });
}

const flagsOf = (context: SessionContext): string[] => [
  ...['--output-format', 'stream-json', '--session-id', context.sessionId, '--skip-trust'],
  ...['--approval-mode', isBypassed(context) ? 'yolo' : 'auto_edit'],
  ...(context.role === 'review' ? ['--include-directories', context.workspace] : []),
  ...(context.agent.model === undefined ? [] : ['--model', context.agent.model]),
];

const harness: Harness = {
  ...product,
  tested: ['0.61.0'],
  keys,
  login: null,
  find: (choice, environment) =>
    findInstalled(search(choice, { cwd: '/', environment }), { GEMINI_CLI_NO_RELAUNCH: 'true' }),
};

/** Google's Gemini CLI, headless: docs/agents/gemini.md. */
export const geminiAdapter: AgentAdapter = {
  name: 'gemini',
  capabilities: {
    structuredEvents: true,
    steering: false,
    cleanInterrupt: true,
    sessionId: 'given',
    tokens: 'disk',
    cost: false,
    effort: true,
    goal: 'reprompt',
    mcp: true,
  },
  politeSignal: 'SIGTERM',
  politeTo: 'tree',
  graceMs: 6000,
  lingerMs: 1000,
  prepare,
  classify: classifyGemini,
  harness,
  responses: geminiResponses,
  say: sayGemini,
};
