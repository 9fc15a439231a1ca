import { dirname, join } from 'node:path';

import type { SessionContext } from '../port.ts';

/** A value of Codex's configuration, of the TOML types that it uses. */
export type Setting = string | number | boolean | readonly string[];

/** Codex's configuration: dotted keys and their values, in the order in which they are written. */
export type Settings = readonly (readonly [key: readonly string[], value: Setting])[];

/** The variable that holds the key, and where it is sent. */
export interface Endpoint {
  /** null = Codex's own, with the login's auth.json or OpenAI's usual address. */
  readonly baseUrl: string | null;
  /** Name of the variable with the key; null = the login of auth.json. */
  readonly keyVariable: string | null;
}

/** Where OpenAI's keys are good for. */
const openAi = 'https://api.openai.com/v1';

/** Retries of one request (HTTP 5xx) and of one stream: a hiccup of some seconds is survived, a dead endpoint told within a minute. */
const retries = 3;

/** Variables of a session that its MCP server needs: Codex hands on only what is named. */
const sessionVariables = [
  'HMA_ROLE',
  'HMA_OPTION',
  'HMA_ATTEMPT',
  'HMA_WORKSPACE',
  'HMA_PROMPT',
  'HMA_TOKEN',
  'HMA_SOCKET',
  'HMA_RUN',
  'TMPDIR',
];

/** Whether Codex's own sandbox stays on: no tier keeps the session apart and nobody said that it may do without. */
export const isSandboxed = ({ agent, isolated }: Pick<SessionContext, 'agent' | 'isolated'>): boolean =>
  agent.permissions === 'limited' || (!isolated && agent.permissions !== 'bypass');

/**
 * The configuration of one session. Approvals are never asked for: nobody could answer. Without a sandbox of ours around it Codex's own
 * stays on, with network, since `hma` speaks to a socket. Login shells are off, since they reset PATH, on which `hma` is first. The key
 * is kept from the shell's environment unless the task names its variable for the agent. Of an account's login its connected apps stay
 * off: a night's agent is not to read its owner's mail.
 */
export function settingsFor(context: SessionContext, endpoint: Endpoint): Settings {
  const { agent } = context;
  const settings: (readonly [readonly string[], Setting])[] = [
    [['approval_policy'], 'never'],
    [['sandbox_mode'], isSandboxed(context) ? 'workspace-write' : 'danger-full-access'],
    [['allow_login_shell'], false],
    [['check_for_update_on_startup'], false],
    [['cli_auth_credentials_store'], 'file'],
    [['analytics', 'enabled'], false],
    [['feedback', 'enabled'], false],
    [['features', 'apps'], false],
  ];
  if (agent.model !== undefined) settings.push([['model'], agent.model]);
  if (agent.effort !== undefined) settings.push([['model_reasoning_effort'], agent.effort]);
  if (isSandboxed(context)) settings.push([['sandbox_workspace_write', 'network_access'], true]);
  settings.push(...providerOf(endpoint));
  const { keyVariable } = endpoint;
  if (keyVariable !== null && !agent.environment.includes(keyVariable))
    settings.push([['shell_environment_policy', 'exclude'], [keyVariable]]);
  if (agent.tools === 'mcp') settings.push(...serverOf(context));
  return settings;
}

/** With a key the provider is ours, since Codex's built-in one takes no key by variable; with a login it is Codex's own. */
function providerOf({ baseUrl, keyVariable }: Endpoint): Settings {
  if (baseUrl === null && keyVariable === null) return [];
  const key = (name: string): readonly string[] => ['model_providers', 'hma', name];
  return [
    [['model_provider'], 'hma'],
    [key('name'), baseUrl === null ? 'OpenAI' : new URL(baseUrl).host],
    [key('base_url'), baseUrl ?? openAi],
    [key('wire_api'), 'responses'],
    keyVariable === null ? [key('requires_openai_auth'), true] : [key('env_key'), keyVariable],
    [key('request_max_retries'), retries],
    [key('stream_max_retries'), retries],
  ];
}

/** `hma mcp`, whose tools need no approval: with the sandbox on and approvals off Codex would refuse them. */
function serverOf({ drive: [node, bundle] }: SessionContext): Settings {
  const key = (name: string): readonly string[] => ['mcp_servers', 'hma', name];
  return [
    [key('command'), node],
    [key('args'), [join(dirname(bundle), 'session.js'), 'mcp']],
    [key('env_vars'), sessionVariables],
    [key('default_tools_approval_mode'), 'approve'],
    [key('startup_timeout_sec'), 30],
    [key('tool_timeout_sec'), 3600],
  ];
}

/** A basic string of TOML: JSON's escapes are TOML's too, but for DEL, which TOML wants escaped. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007F');

const valueToml = (value: Setting): string => {
  if (typeof value === 'string') return quoted(value);
  return Array.isArray(value) ? `[${value.map(quoted).join(', ')}]` : String(value);
};

const keyToml = (key: readonly string[]): string =>
  key.map((part) => (/^[\w-]+$/u.test(part) ? part : quoted(part))).join('.');

/** The settings as a config.toml. */
export const configToml = (settings: Settings): string =>
  `# Written by HMA for one session.\n${settings.map(([key, value]) => `${keyToml(key)} = ${valueToml(value)}\n`).join('')}`;

/** The settings as arguments, which count more than any file: for a HOME that is the user's own. */
export const configArguments = (settings: Settings): string[] =>
  settings.flatMap(([key, value]) => ['-c', `${keyToml(key)}=${valueToml(value)}`]);
