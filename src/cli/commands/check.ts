import { existsSync, realpathSync } from 'node:fs';

import { adapters } from '../../agents/adapters.ts';
import { presets } from '../../agents/presets.ts';
import { withSecrets } from '../../agents/secrets.ts';
import { findWorkspace } from '../../client/lookup.ts';
import { lookMs, preflight, type Preflight, type PreflightItem } from '../../client/preflight.ts';
import { lateItem, mountItems } from '../../client/preflightLooks.ts';
import { inTime } from '../../base/inTime.ts';
import { sayLength } from '../../base/numbers.ts';
import { examine } from '../../controller/doctor.ts';
import { dryRun } from '../../controller/dryRun.ts';
import { liesOn, silentMounts } from '../../machines/silentMounts.ts';
import { stateHome } from '../../ledger/places.ts';
import { loadContract } from '../../task/load.ts';
import { formatMessages } from '../../task/messages.ts';
import { isForPeople, paperOf, remark, sayJson, sayLines, type Desk } from '../desk.ts';
import { doctorItems, dryRunItem } from '../doctorItems.ts';
import { budgetItem, nightOf } from '../night.ts';
import { exitCodes } from '../exitCodes.ts';
import { Interrupted, interruptibly, showing } from '../progress.ts';
import { homeFor } from './agents.ts';
import { checkOutput } from '../schemas.ts';

/** Least time for the look from inside, ms. */
const leastInsideMs = 15_000;

/** `hma check`: all that a run needs, looked at without starting one. */
export async function check(
  desk: Desk,
  options: { readonly json?: boolean; readonly endpoint?: string; readonly evaluate?: boolean },
): Promise<number> {
  const began = performance.now();
  const silent = await silentMounts();
  const workspace = liesOn(silent, desk.cwd) ? desk.cwd : (findWorkspace(desk.cwd) ?? realpathSync(desk.cwd));
  const mounts = mountItems(silent, { workspace, env: desk.env });
  const hung = mounts.some(({ state }) => state === 'bad');
  // a run has the values that `hma secrets` keeps
  const env = hung ? desk.env : withSecrets(await homeFor(desk), desk.env);
  const found = await preflight({
    ...{ workspace, mounts },
    wall: desk.clock.now().wall,
    adapters: Object.keys(adapters),
    env,
  });
  const canEvaluate = !found.items.some(({ topic, state }) => topic === 'git' && state === 'bad');
  const takenMs = performance.now() - began;
  const inside = { ...options, workspace, tier: found.tier, takenMs, canEvaluate };
  const items = [...found.items, ...(await insideItems({ ...desk, env }, inside))];
  const bad = items.some(({ state }) => state === 'bad');
  const answer = nightOf(items);
  if (options.json)
    await sayJson(desk, checkOutput.parse({ workspace, ready: !bad, ...answer, tier: found.tier, items }));
  else {
    if (!hung && existsSync(`${workspace}/hma.yaml`)) desk.stderr.write(formatMessages(found.messages));
    await sayLines(desk, [...items.flatMap((item) => itemLines(item, desk)), answer.words]);
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
    /** What all else took, ms. */
    readonly takenMs: number;
    /** Whether git works, with which the evaluator's checkout is made. */
    readonly canEvaluate: boolean;
  },
): Promise<PreflightItem[]> {
  const { workspace, tier, endpoint } = given;
  if (!tier) return [];
  const loaded = await loadContract({
    workspace,
    given: { wall: desk.clock.now().wall, adapters: Object.keys(adapters), presets },
  });
  if (!loaded.ok) return [];
  const { contract } = loaded.value;
  const home = stateHome(desk.env, contract.state);
  try {
    const request = { contract, workspace, home, tier: tier.tier, env: desk.env };
    // what was looked at before counts too: all of it is to be done within one look's time, as far as that goes
    const insideMs = endpoint === undefined ? Math.max(leastInsideMs, Math.round(lookMs - given.takenMs)) : 2 * lookMs;
    const late = AbortSignal.timeout(insideMs + 500);
    const report = await showing(desk, 'looking around inside', () =>
      interruptibly((interrupt) => {
        const signal = AbortSignal.any([interrupt, late]);
        return inTime(examine({ ...request, signal, ...(endpoint === undefined ? {} : { endpoint }) }), insideMs);
      }),
    );
    const inside =
      report === 'late' ? [lateItem('inside', 'the isolation from inside', insideMs)] : doctorItems(report, tier.tier);
    if (given.evaluate === false || !given.canEvaluate) return inside;
    const { timeoutMs } = contract.evaluate;
    if (isForPeople(desk))
      remark(desk, `hma: the evaluator runs once, at most ${sayLength(timeoutMs)} (not at all with --no-evaluate) …`);
    const mostMs = timeoutMs + lookMs;
    const ran = await showing(desk, 'the evaluator runs', () =>
      interruptibly((signal) => inTime(dryRun({ ...request, signal }), mostMs)),
    );
    if (ran === 'late') return [...inside, lateItem('evaluator', 'the evaluator', mostMs)];
    return [...inside, dryRunItem(ran), ...budgetItem(contract, ran)];
  } catch (error) {
    if (error instanceof Interrupted) throw error;
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
