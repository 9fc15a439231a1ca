import { dirname, join } from 'node:path';

import type { SessionContext } from '../port.ts';
import { sessionVariables } from '../sessionVariables.ts';

/** Tries of one request: a hiccup of some seconds is survived, a dead endpoint told soon. */
const tries = 3;

/** Largest thinking budgets of the 2.5 models, tokens; later ones have levels. Source: ai.google.dev, "Thinking". */
const budgets: Readonly<Record<string, number>> = { pro: 32_768, flash: 24_576 };

/** Whether nobody is to be asked before a tool runs. */
export const isBypassed = ({ agent, isolated }: Pick<SessionContext, 'agent' | 'isolated'>): boolean =>
  agent.permissions === 'bypass' || (agent.permissions !== 'limited' && isolated);

/**
 * Gemini CLI's user settings for one session. Folder trust is on although the session gets `--skip-trust`: settings and environment files
 * are read before that flag counts, so those of the workspace, which is not trusted then, are left out, and instruction files, which
 * are read after it, are not. `useExternal` leaves out the check of the login that would read the workspace's `.gemini/.env` later.
 */
export function settingsFor(context: SessionContext): object {
  const { agent } = context;
  return {
    security: {
      auth: { selectedType: 'gemini-api-key', useExternal: true },
      folderTrust: { enabled: true },
    },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: tries },
    hooksConfig: { enabled: false },
    ide: { enabled: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    advanced: { ignoreLocalEnv: true, autoConfigureMemory: false },
    experimental: { autoMemory: false },
    context: { fileName: ['GEMINI.md', 'AGENTS.md'] },
    ...(isBypassed(context) ? {} : { tools: { allowed: ['run_shell_command', 'web_fetch', 'google_web_search'] } }),
    ...(agent.model === undefined
      ? {}
      : { modelConfigs: { overrides: [thinking(agent.model, agent.effort ?? 'max')] } }),
    ...(agent.tools === 'mcp' ? { mcpServers: { hma: mcpServer(context) } } : {}),
  };
}

/** Effort as Gemini's models take it: thinking budgets (2.5) or levels. */
function thinking(model: string, effort: string): object {
  const low = ['minimal', 'low'].includes(effort);
  const largest = budgets[/2\.5-(pro|flash)/u.exec(model)?.[1] ?? ''];
  const config =
    largest === undefined ? { thinkingLevel: low ? 'LOW' : 'HIGH' } : { thinkingBudget: low ? 1024 : largest };
  return {
    match: { model },
    modelConfig: { generateContentConfig: { thinkingConfig: { includeThoughts: true, ...config } } },
  };
}

/** Gemini replaces `$NAME` by the variable of its own environment; a server gets only what is named. */
const mcpServer = ({ drive: [node, bundle] }: SessionContext): object => ({
  command: node,
  args: [join(dirname(bundle), 'session.js'), 'mcp'],
  env: Object.fromEntries(sessionVariables.map((name) => [name, `$${name}`])),
  trust: true,
});
