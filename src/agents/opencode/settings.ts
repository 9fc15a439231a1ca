import { dirname, join } from 'node:path';

import type { SessionContext } from '../port.ts';

/** Name of the provider under which an endpoint of the author's is put. */
export const ownProvider = 'hma';

/** Variable in which the session holds that endpoint's key. */
export const ownKey = 'OPENCODE_HMA_KEY';

/** Whether nobody is to be asked before a tool runs. */
const isBypassed = ({ agent, isolated }: SessionContext): boolean =>
  agent.permissions === 'bypass' || (agent.permissions !== 'limited' && isolated);

/** The model in opencode's words, `provider/model`; undefined = its default. */
export const modelOf = ({ agent }: SessionContext): string | undefined =>
  agent.baseUrl === undefined || agent.model === undefined ? agent.model : `${ownProvider}/${agent.model}`;

/**
 * opencode's configuration for one session, which goes before all files. Small requests go to the session's own model, never to
 * another; what would ask for a permission that it has not got is refused, as nobody can answer.
 */
export function settingsFor(context: SessionContext, instructions: readonly string[]): object {
  const { agent } = context;
  const model = modelOf(context);
  return {
    autoupdate: false,
    share: 'disabled',
    snapshot: false,
    permission: isBypassed(context)
      ? 'allow'
      : { edit: 'allow', bash: 'allow', webfetch: 'allow', websearch: 'allow', external_directory: 'deny' },
    ...(model === undefined ? {} : { model, small_model: model }),
    instructions,
    ...(agent.baseUrl === undefined || agent.model === undefined ? {} : { provider: provider(agent.baseUrl, agent) }),
    ...(agent.tools === 'mcp' ? { mcp: { hma: mcpServer(context) } } : {}),
  };
}

const provider = (baseUrl: string, { model = '', effort }: SessionContext['agent']): object => ({
  [ownProvider]: {
    npm: '@ai-sdk/openai-compatible',
    name: ownProvider,
    options: { baseURL: baseUrl, apiKey: `{env:${ownKey}}` },
    models: { [model]: { name: model, ...(effort === undefined ? {} : { options: { reasoningEffort: effort } }) } },
  },
});

const mcpServer = ({ drive: [node, bundle] }: SessionContext): object => ({
  type: 'local',
  command: [node, join(dirname(bundle), 'session.js'), 'mcp'],
  enabled: true,
});
