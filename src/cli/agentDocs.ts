import { adapters } from '../agents/adapters.ts';
import type { AgentAdapter, Harness } from '../agents/port.ts';
import { presets } from '../agents/presets.ts';

const yes = (is: boolean): string => (is ? 'yes' : '—');

type Real = AgentAdapter & { readonly harness: Harness };
const real: readonly Real[] = Object.values(adapters).flatMap((adapter) =>
  adapter.harness ? [{ ...adapter, harness: adapter.harness }] : [],
);

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const sessionIds = { given: 'ours', reported: 'its own, recorded', none: '—' } as const;
const tokens = { disk: 'from its transcript, also after a kill', stream: 'from its output', none: '—' } as const;
const goals = { native: 'its own', reprompt: 'asked again', none: '—' } as const;

/** The text of docs/agents.md: what each adapter can do, from the adapters themselves. */
export function agentDocs(): string {
  const kinds = real.map(({ name, harness, capabilities: can, politeSignal, politeTo, graceMs }) => [
    `[\`${name}\`](agents/${name}.md)`,
    harness.tested.join(', '),
    sessionIds[can.sessionId],
    tokens[can.tokens],
    yes(can.cost),
    yes(can.effort),
    yes(can.steering),
    can.cleanInterrupt
      ? 'its own interrupt'
      : `${politeSignal} to ${politeTo === 'tree' ? 'all of it' : 'its program'}`,
    `${graceMs / 1000} s`,
    goals[can.goal],
    yes(can.mcp),
  ]);
  const installs = real.map(({ name, harness }) => [
    `\`${name}\``,
    harness.title,
    `\`${harness.install}\``,
    harness.keys.map((key) => `\`${key}\``).join(', '),
    harness.login === null ? 'key only' : `\`hma login ${name}\``,
  ]);
  const endpoints = presets.map(({ name, title, keyVariable, endpoints: ways, checked }) => [
    `\`${name}\``,
    title,
    Object.entries(ways)
      .map(([adapter, { model }]) => `\`${adapter}\`${model === null ? '' : ` (${model})`}`)
      .join(', '),
    `\`${keyVariable}\``,
    checked,
  ]);
  return `# Agents

Made from the adapters by \`node test/agents/writeAgentDocs.ts\`; do not edit. \`hma agents\` shows the same for your machine: what is installed, whether the
version was tested, how it is signed in.

Agents are used as their makers ship them: nothing of their inner loop is changed. Each session starts with an empty context in a HOME of its own, with the
workspace as its folder. Instruction files in the workspace (CLAUDE.md, AGENTS.md …) are read; settings, hooks, MCP servers and environment from the
workspace never are, because an agent could plant them for its successor.

## What each can do

Driven for real in the tests, at these versions, against a scripted model server on 127.0.0.1; no real account was used.

${table(['adapter', 'tested', 'session id', 'tokens', 'cost', 'effort', 'messages in mid-session', 'ended by', 'grace', 'goal mode (`policy: single`)', 'MCP'], kinds)}

Whatever a CLI leaves behind after its end is ended by the runner before the next session starts.

## Installing and signing in

${table(['adapter', 'CLI', 'install', 'key variables', 'without a key'], installs)}

Keys are passed on by the *name* of their variable, never written down. \`hma login\` signs in once into a login of ours; your own login is never copied, because
its refresh token can be used only once and a copy would sign you out.

## Presets: other models through these CLIs

\`preset: NAME\` fills in endpoint, model and key variable; \`model\`, \`baseUrl\` and \`keyVariable\` override it. From the providers' documentation; none was tried with a key here.

${table(['preset', 'provider', 'through (model)', 'key variable', 'looked up'], endpoints)}

## Any other program

\`\`\`yaml
agents:
  A: { name: mine, adapter: command, command: [my-agent, --task, "{promptFile}"] }
\`\`\`

It works in the folder and exits. It can tell its tokens and why it gives up by lines of JSON on its output ([failures.md](failures.md)); it takes no messages. How to write an adapter: [extending.md](extending.md).
`;
}
