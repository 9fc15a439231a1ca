import { existsSync, realpathSync } from 'node:fs';

import { adapters } from '../../agents/adapters.ts';
import { presets } from '../../agents/presets.ts';
import { withSecrets } from '../../agents/secrets.ts';
import { findWorkspace } from '../../client/lookup.ts';
import { preflight, type Preflight, type PreflightItem } from '../../client/preflight.ts';
import { sayLength } from '../../base/numbers.ts';
import { examine } from '../../controller/doctor.ts';
import { dryRun } from '../../controller/dryRun.ts';
import { stateHome } from '../../ledger/places.ts';
import { loadContract } from '../../task/load.ts';
import { formatMessages } from '../../task/messages.ts';
import { isForPeople, paperOf, remark, sayJson, sayLines, type Desk } from '../desk.ts';
import { doctorItems, dryRunItem } from '../doctorItems.ts';
import { exitCodes } from '../exitCodes.ts';
import { homeFor } from './agents.ts';
import { checkOutput } from '../schemas.ts';

/** `hma check`: all that a run needs, looked at without starting one. */
export async function check(
  desk: Desk,
  options: { readonly json?: boolean; readonly endpoint?: string; readonly evaluate?: boolean },
): Promise<number> {
  const workspace = findWorkspace(desk.cwd) ?? realpathSync(desk.cwd);
  // a run has the values that `hma secrets` keeps
  const env = withSecrets(await homeFor(desk), desk.env);
  const found = await preflight({
    workspace,
    wall: desk.clock.now().wall,
    adapters: Object.keys(adapters),
    env,
  });
  const items = [...found.items, ...(await insideItems({ ...desk, env }, { ...options, workspace, tier: found.tier }))];
  const bad = items.some(({ state }) => state === 'bad');
  if (options.json) await sayJson(desk, checkOutput.parse({ workspace, ready: !bad, tier: found.tier, items }));
  else {
    if (existsSync(`${workspace}/hma.yaml`)) desk.stderr.write(formatMessages(found.messages));
    await sayLines(
      desk,
      items.flatMap((item) => itemLines(item, desk)),
    );
  }
  if (!bad) return exitCodes.ok;
  return items.some(({ topic, state }) => topic === 'contract' && state === 'bad')
    ? exitCodes.contract
    : exitCodes.failed;
}

/** What only shows from inside: a program is started in a session's confinement, and looks around. */
async function insideItems(
  desk: Desk,
  given: {
    readonly workspace: string;
    readonly tier: Preflight['tier'];
    readonly endpoint?: string;
    readonly evaluate?: boolean;
  },
): Promise<PreflightItem[]> {
  const { workspace, tier, endpoint } = given;
  const loaded = await loadContract({
    workspace,
    given: { wall: desk.clock.now().wall, adapters: Object.keys(adapters), presets },
  });
  if (!loaded.ok || !tier) return [];
  const { contract } = loaded.value;
  const home = stateHome(desk.env, contract.state);
  try {
    const request = { contract, workspace, home, tier: tier.tier, env: desk.env };
    const report = await examine({ ...request, ...(endpoint === undefined ? {} : { endpoint }) });
    const inside = doctorItems(report, tier.tier);
    if (given.evaluate === false) return inside;
    const { timeoutMs } = contract.evaluate;
    if (isForPeople(desk))
      remark(desk, `hma: the evaluator runs once, at most ${sayLength(timeoutMs)} (not at all with --no-evaluate) …`);
    return [...inside, dryRunItem(await dryRun(request))];
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const fix = 'Check that the state folder can be written (HMA_HOME).';
    return [
      {
        topic: 'inside',
        state: 'bad',
        code: 'inside_not_looked_at',
        what: 'the isolation could not be looked at from inside',
        detail,
        fix,
      },
    ];
  }
}

function itemLines({ state, what, detail, fix }: PreflightItem, desk: Desk): string[] {
  const { style } = paperOf(desk);
  const mark = state === 'good' ? style.good('ok  ') : state === 'warning' ? style.warn('note') : style.warn('stop');
  return [
    `${mark} ${what}`,
    ...(detail === '' || state === 'good' ? [] : [style.dim(`     ${detail}`)]),
    ...(fix === null ? [] : [`     ${fix}`]),
  ];
}
