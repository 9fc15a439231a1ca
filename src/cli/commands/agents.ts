import { findWorkspace } from '../../client/lookup.ts';
import { stateHome } from '../../ledger/places.ts';
import { loadContract } from '../../task/load.ts';
import { lookAtAgents, lookAtPresets, saySignedIn, sayVersion, type AgentLook } from '../../client/agentLook.ts';
import type { Capabilities } from '../../agents/port.ts';
import { withSecrets } from '../../agents/secrets.ts';
import { paperOf, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { table } from '../render/text.ts';
import { agentsOutput } from '../schemas.ts';

/** `hma agents`: the agents' CLIs this version can drive, as they are on this machine, and the presets. */
export async function agents(desk: Desk, options: { readonly json?: boolean }): Promise<number> {
  const home = await homeFor(desk);
  const place = { env: withSecrets(home, desk.env), home };
  const [looks, presets] = [await lookAtAgents(place), lookAtPresets(place)];
  if (options.json) {
    await sayJson(desk, agentsOutput.parse({ home, agents: looks, presets }));
    return exitCodes.ok;
  }
  const { style } = paperOf(desk);
  await sayLines(desk, [
    ...looks.flatMap((look) => [
      `${style.bold(look.adapter)}  ${look.program === null ? style.warn('not found') : `${sayVersion(look)}, ${saySignedIn(look.signedIn, look.adapter)}`}`,
      style.dim(`    ${look.program ?? `install it: ${look.install}`}`),
    ]),
    '',
    ...capabilityTable(looks, paperOf(desk).columns),
    '',
    'Presets (preset: NAME in hma.yaml), by a key in a variable:',
    ...presets.map(
      ({ name, title, adapters, keyVariable, keySet }) =>
        `  ${name}: ${title}, for ${adapters.join(', ') || 'adapters to come'}; ${keyVariable} is ${keySet ? 'set' : 'not set'}`,
    ),
  ]);
  return exitCodes.ok;
}

/** Where the runs of this desk, and so their logins, lie: HMA_HOME, what `state` of this folder's hma.yaml says, or the default. */
export async function homeFor(desk: Desk): Promise<string> {
  const workspace = findWorkspace(desk.cwd);
  if (workspace === undefined) return stateHome(desk.env);
  const loaded = await loadContract({ workspace, given: { wall: desk.clock.now().wall } });
  return stateHome(desk.env, loaded.ok ? loaded.value.contract.state : null);
}

const columns: readonly { readonly title: string; readonly of: (what: Capabilities) => string }[] = [
  { title: 'messages', of: ({ steering }) => yes(steering) },
  { title: 'clean end', of: ({ cleanInterrupt }) => yes(cleanInterrupt) },
  { title: 'tokens', of: ({ tokens }) => tokens },
  { title: 'cost', of: ({ cost }) => yes(cost) },
  { title: 'effort', of: ({ effort }) => yes(effort) },
  { title: 'goal', of: ({ goal }) => goal },
  { title: 'mcp', of: ({ mcp }) => yes(mcp) },
];

const yes = (is: boolean): string => (is ? 'yes' : '—');

const capabilityTable = (looks: readonly AgentLook[], width: number): string[] =>
  table({
    rows: [
      ['', ...columns.map(({ title }) => title)],
      ...looks.map(({ adapter, capabilities }) => [adapter, ...columns.map(({ of }) => of(capabilities))]),
    ],
    columns: width,
  });
