import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { adapterFor } from '../agents/adapters.ts';
import { presets } from '../agents/presets.ts';
import { inTime } from '../base/inTime.ts';
import { findProgram } from '../base/program.ts';
import { stateHome } from '../ledger/places.ts';
import { describeTier } from '../machines/describeTier.ts';
import type { Tier } from '../machines/port.ts';
import { probeTiers } from '../machines/probeTiers.ts';
import { loadContract } from '../task/load.ts';
import { sayPlace, type ContractMessage } from '../task/messages.ts';
import type { AgentSlot, Contract } from '../task/model.ts';
import { lookAtAgent, saySignedIn, sayVersion } from './agentLook.ts';
import type { CheckCode } from './checkCodes.ts';
import { attach } from './connection.ts';
import { diskItems } from './diskLook.ts';
import { runsOf, stateHomes } from './lookup.ts';
import { gitItem, gpuItems, lateItem, placeItems } from './preflightLooks.ts';
import { readOffline } from './readRun.ts';

/** One thing that was looked at before a start. */
export interface PreflightItem {
  readonly topic: 'contract' | 'evaluator' | 'agent' | 'isolation' | 'inside' | 'disk' | 'git' | 'run';
  /** `bad` keeps a run from starting or from getting anywhere; `warning` should be known. */
  readonly state: 'good' | 'warning' | 'bad';
  readonly what: string;
  /** What was found, for programs; null where all is well. */
  readonly code: CheckCode | null;
  /** More about it; empty where there is nothing more to say. */
  readonly detail: string;
  /** What to do; null where nothing needs to be done. */
  readonly fix: string | null;
}

/** All that was looked at; `tier` is the isolation that a run would get, null where none that the contract asks for works. */
export interface Preflight {
  readonly items: readonly PreflightItem[];
  readonly tier: { readonly tier: Tier; readonly cannot: readonly string[] } | null;
  readonly messages: readonly ContractMessage[];
}

/** Longest time for one look, ms. */
export const lookMs = 30_000;

/**
 * Looks at all that a run needs, before it is started; starts nothing of the task. Short probes of the isolation tiers are run and ended. What
 * doesn't answer within 30 s (`patience`) is an item of its own; where a mount of the task's doesn't answer, nothing else is looked at.
 */
export async function preflight(given: {
  readonly workspace: string;
  readonly wall: number;
  readonly adapters: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** What is told of mounts that don't answer. */
  readonly mounts?: readonly PreflightItem[];
  readonly patience?: number;
}): Promise<Preflight> {
  const { workspace, mounts = [], patience = lookMs } = given;
  if (mounts.some(({ state }) => state === 'bad')) return { items: mounts, tier: null, messages: [] };
  const loaded = await loadContract({
    workspace,
    given: { wall: given.wall, adapters: given.adapters, presets },
  });
  const messages = loaded.ok ? loaded.value.warnings : loaded.refusal.messages;
  const contract = loaded.ok ? loaded.value.contract : null;
  const look = (topic: PreflightItem['topic'], whose: string, work: Promise<PreflightItem[]>) =>
    inTime(work, patience).then((found) => (found === 'late' ? [lateItem(topic, whose, patience)] : found));
  const one = async (work: Promise<PreflightItem>): Promise<PreflightItem[]> => [await work];
  const isolating = inTime(isolationItem(contract), patience);
  const found = await Promise.all([
    contract ? look('evaluator', "the evaluator's program", one(evaluatorItem(contract, given))) : [],
    ...(contract
      ? slotsOf(contract).map((slot) => look('agent', `agent ${slot}`, one(agentItem(slot, contract, given))))
      : []),
    isolating.then((seen) => (seen === 'late' ? [lateItem('isolation', 'the isolation', patience)] : [seen.item])),
    Promise.resolve([
      ...diskItems({ ...given, contract }),
      ...placeItems(workspace, stateHome(given.env, contract?.state ?? null)),
    ]),
    look('git', 'git', one(gitItem(given))),
    look('inside', 'nvidia-smi', gpuItems(patience)),
    look('run', 'the runs of this folder', one(runItem(given))),
  ]);
  const isolation = await isolating;
  return {
    items: [contractItem(messages), ...mounts, ...found.flat()],
    tier: isolation === 'late' ? null : isolation.tier,
    messages,
  };
}

const slotsOf = ({ policy }: Contract): readonly AgentSlot[] =>
  policy.mode === 'single' ? [policy.first] : ['A', 'B'];

interface World {
  readonly workspace: string;
  readonly env: NodeJS.ProcessEnv;
}

function contractItem(messages: readonly ContractMessage[]): PreflightItem {
  const errors = messages.filter(({ severity }) => severity === 'error');
  const first = errors[0] ?? messages[0];
  const detail = !first ? '' : first.what.startsWith(first.file) ? first.what : `${sayPlace(first)}: ${first.what}`;
  if (errors.length > 0)
    return {
      topic: 'contract',
      state: 'bad',
      code: 'contract_errors',
      what: `hma.yaml has ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}`,
      detail,
      fix: first?.fix ?? 'Correct it.',
    };
  if (first)
    return {
      topic: 'contract',
      state: 'warning',
      code: 'contract_warnings',
      what: 'hma.yaml is complete, with something to know',
      detail,
      fix: first.fix,
    };
  return { topic: 'contract', state: 'good', code: null, what: 'hma.yaml is complete', detail: '', fix: null };
}

async function evaluatorItem(contract: Contract, { workspace, env }: World): Promise<PreflightItem> {
  const [name] = contract.evaluate.command;
  const found = await findProgram(name, { path: env['PATH'], cwd: resolve(workspace, contract.evaluate.cwd) });
  return found.ok
    ? {
        topic: 'evaluator',
        state: 'good',
        code: null,
        what: `the evaluator's program is there: ${name}`,
        detail: found.value,
        fix: null,
      }
    : {
        topic: 'evaluator',
        state: 'bad',
        code: 'evaluator_not_found',
        what: `the evaluator can't start: ${name} was not found`,
        detail: found.refusal.detail,
        fix: 'Install it, or correct `evaluate` in hma.yaml.',
      };
}

async function agentItem(slot: AgentSlot, contract: Contract, { workspace, env }: World): Promise<PreflightItem> {
  const choice = contract.agents[slot];
  const bad = (detail: string, fix: string): PreflightItem => ({
    topic: 'agent',
    state: 'bad',
    code: 'agent_cannot_start',
    what: `agent ${slot} (${choice.name}) can't start`,
    detail,
    fix,
  });
  const adapter = adapterFor(choice);
  if (!adapter.ok) return bad(adapter.refusal.detail, `Correct agents.${slot} in hma.yaml.`);
  const good: PreflightItem = {
    topic: 'agent',
    state: 'good',
    code: null,
    what: `agent ${slot} is ${choice.name}`,
    detail: choice.command?.join(' ') ?? choice.adapter,
    fix: null,
  };
  if (adapter.value.harness) return harnessItem(slot, contract, { workspace, env });
  if (!choice.command)
    return choice.adapter === 'command' ? bad('it names no command', `Add agents.${slot}.command in hma.yaml.`) : good;
  const found = await findProgram(choice.command[0], { path: env['PATH'], cwd: workspace });
  return found.ok ? good : bad(found.refusal.detail, `Install it, or correct agents.${slot} in hma.yaml.`);
}

/** An agent that is a product: found, in a version that was tried, and signed in. */
async function harnessItem(slot: AgentSlot, contract: Contract, { env }: World): Promise<PreflightItem> {
  const choice = contract.agents[slot];
  const item = (
    state: PreflightItem['state'],
    what: string,
    more: { code: CheckCode | null; detail: string; fix: string | null },
  ): PreflightItem => ({
    ...{ topic: 'agent', state, what: `agent ${slot} (${choice.name}) ${what}` },
    ...more,
  });
  const look = await lookAtAgent(choice, { env, home: stateHome(env, contract.state) });
  if (!look) throw new Error(`the adapter ${choice.adapter} has no harness`);
  if (look.program === null)
    return item('bad', "can't start: its program was not found", {
      code: 'agent_not_installed',
      detail: look.why,
      fix: `Install it: ${look.install}`,
    });
  const { signedIn } = look;
  const words = `${look.title} ${sayVersion(look)}`;
  if (signedIn.by === 'nothing' && (contract.isolation.ownHome || !signedIn.canLogin)) {
    const [variable = 'its key'] = signedIn.variables;
    const fix = signedIn.canLogin
      ? `Sign in: hma login ${choice.adapter}; or set ${variable}.`
      : `Set ${variable} where hma run is started.`;
    return item('bad', 'is not signed in', { code: 'agent_not_signed_in', detail: words, fix });
  }
  const signed = signedIn.by === 'nothing' ? "uses your own HOME's login" : saySignedIn(signedIn, choice.adapter);
  if (signedIn.by === 'login' && signedIn.heldBy !== null)
    return item('warning', 'would wait for its login', {
      code: 'agent_login_held',
      detail: `${words}: ${signed}`,
      fix: 'One session at a time may have a login. A key in a variable has no such limit.',
    });
  if (look.version === null)
    return item('warning', `is ${look.title}, which doesn't say its version`, {
      code: 'agent_silent',
      detail: `${look.program} --version ended with an error, or not within 20 s.`,
      fix: 'Run it by hand: a session may hang as it does.',
    });
  if (look.known !== 'tested')
    return item('warning', `is ${words}`, {
      code: 'agent_untested',
      detail: `${signed}. ${look.program}`,
      fix: 'It will probably work. To be sure, install a version that was tested.',
    });
  return item('good', `is ${words}, ${signed}`, { code: null, detail: look.program, fix: null });
}

async function isolationItem(contract: Contract | null): Promise<{ item: PreflightItem; tier: Preflight['tier'] }> {
  const asked = contract?.isolation.tier ?? 'auto';
  const binds = contract?.evaluate.binds ?? [];
  // only bubblewrap can show an evaluator absolute paths of its own, as a start knows too
  const wanted = asked === 'auto' && binds.length > 0 ? 'bubblewrap' : asked;
  const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'hma-check-'));
  try {
    const probes = await probeTiers({
      node: process.execPath,
      scratch,
      ...(wanted === 'auto' ? {} : { tiers: [wanted] }),
    });
    const found = probes.find(({ available, tier }) => available && (wanted === 'auto' || tier === wanted));
    const why = probes
      .filter(({ available }) => !available)
      .map(({ tier, why: reason }) => `${tier}: ${reason}`)
      .join('; ');
    if (!found)
      return {
        item: {
          topic: 'isolation',
          state: 'bad',
          code: 'isolation_unavailable',
          what: `isolation ${wanted} does not work here`,
          detail: why,
          fix:
            binds.length > 0
              ? 'Install bubblewrap: evaluate.binds needs it.'
              : 'Install what is missing, or write isolation: auto in hma.yaml.',
        },
        tier: null,
      };
    const { cannot } = describeTier(found.tier);
    const item: PreflightItem =
      found.tier === 'none'
        ? {
            topic: 'isolation',
            state: 'warning',
            code: 'isolation_none',
            what: 'nothing is isolated: agents can read and change all that you can',
            detail: [why, ...cannot].filter((text) => text !== '').join(' '),
            fix:
              wanted === 'none'
                ? 'Write isolation: auto in hma.yaml.'
                : 'Install bubblewrap, or use a container or machine of its own.',
          }
        : {
            topic: 'isolation',
            state: 'good',
            code: null,
            what: `agents and evaluators are kept apart by ${found.tier}`,
            detail: `What it can't do: ${cannot.join(' ')}`,
            fix: null,
          };
    return { item, tier: { tier: found.tier, cannot } };
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runItem({ workspace, env }: World): Promise<PreflightItem> {
  for (const place of runsOf(workspace, stateHomes(env, workspace)).slice(0, 5)) {
    const read = readOffline(place);
    if (!read.ok || read.value.state.phase === 'finished') continue;
    const connection = await attach(place.folder).catch(() => null);
    connection?.close();
    return connection
      ? {
          topic: 'run',
          state: 'bad',
          code: 'run_under_way',
          what: `run ${place.run} works in this folder now`,
          detail: 'One run at a time owns a folder.',
          fix: 'Wait until it is over, or stop it: hma stop.',
        }
      : {
          topic: 'run',
          state: 'warning',
          code: 'run_without_controller',
          what: `run ${place.run} is not over, but has no controller`,
          detail: 'It may own this folder still.',
          fix: `Let it go on, hma resume ${place.run}, or stop it.`,
        };
  }
  return { topic: 'run', state: 'good', code: null, what: 'no other run works in this folder', detail: '', fix: null };
}
