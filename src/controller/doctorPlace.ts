import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { adapterFor } from '../agents/adapters.ts';
import type { Launch, SessionContext } from '../agents/port.ts';
import type { Tier } from '../machines/port.ts';
import type { AgentChoice, Contract } from '../task/model.ts';
import type { Isolation } from './room.ts';
import type { Runtime } from './runtime.ts';
import { newNonce, sessionIdOf } from './sessionFolders.ts';

/** What the doctor looks at. */
export interface DoctorRequest {
  readonly contract: Contract;
  readonly workspace: string;
  readonly home: string;
  readonly tier: Tier;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A test endpoint for one scripted turn of each agent; it speaks their protocols. */
  readonly endpoint?: string;
  /** Aborted by whoever asked: the program that runs is ended, and nothing is left. */
  readonly signal?: AbortSignal;
}

/** How one agent's session could be made; `detail` says why not. */
export interface AgentPrepared {
  readonly agent: AgentChoice;
  readonly ok: boolean;
  readonly detail: string;
}

/** How one scripted turn of an agent went. */
export interface TurnSeen {
  readonly agent: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Folders of one examination, below the state folder. */
export interface Place {
  readonly base: string;
  readonly workspace: string;
  readonly home: string;
  readonly tmp: string;
  readonly shown: string;
  readonly scratch: string;
  readonly runner: string;
  readonly sockets: string;
  /** A file of the state folder that no session may see. */
  readonly secret: string;
}

/** Makes them. */
export function placeIn(base: string, workspace: string): Place {
  const at = (name: string): string => join(base, name);
  const place = {
    ...{ base, workspace, home: at('home'), tmp: at('tmp'), shown: at('shown'), scratch: at('scratch') },
    ...{ runner: at('runner'), sockets: at('sockets'), secret: at('secret') },
  };
  for (const path of [workspace, place.home, place.tmp, place.shown, place.scratch, place.runner, place.sockets])
    mkdirSync(path, { recursive: true, mode: path === place.shown ? 0o755 : 0o700 });
  writeFileSync(place.secret, 'of the state folder', { mode: 0o600 });
  writeFileSync(join(place.shown, 'prompt.md'), 'Say OK.', { mode: 0o644 });
  return place;
}

/** An agent with what its adapter made of it. */
export type Prepared = AgentPrepared & { readonly launch: Launch | null; readonly context: SessionContext };

/** Prepares the agents that the task would use, one after the other. */
export async function prepareAgents(request: DoctorRequest, place: Place, runtime: Runtime): Promise<Prepared[]> {
  const { agents, policy } = request.contract;
  const used = policy.mode === 'single' ? [agents[policy.first]] : [agents.A, agents.B];
  const all: Prepared[] = [];
  for (const agent of used) all.push(await prepareAgent(agent, { request, place, runtime }));
  return all;
}

/** Prepares an agent as for a session, in the folders of the examination. */
export async function prepareAgent(
  agent: AgentChoice,
  { request, place, runtime }: { request: DoctorRequest; place: Place; runtime: Runtime },
): Promise<Prepared> {
  const { env, contract } = request;
  const ownHome = contract.isolation.ownHome;
  const context: SessionContext = {
    ...{ role: 'explore', agent, workspace: place.workspace, cwd: place.workspace, tmp: place.tmp, folder: place.base },
    home: ownHome ? place.home : (env['HOME'] ?? place.home),
    ...{
      prompt: 'Say OK.',
      promptFile: join(place.shown, 'prompt.md'),
      option: 1,
      attempt: 1,
      sessionId: sessionIdOf(newNonce()),
    },
    ...{ isolated: request.tier !== 'none', hides: request.tier === 'bubblewrap' },
    ...{ mode: contract.policy.mode, drive: [runtime.node, runtime.drive] },
    inbox: join(place.shown, 'inbox.jsonl'),
    login: join(request.home, 'logins', agent.adapter),
    outerEnvironment: { ...env, HMA_DEMO_AGENTS: env['HMA_DEMO_AGENTS'] ?? join(runtime.sample, 'agents') },
  };
  const adapter = adapterFor(agent);
  if (!adapter.ok) return { agent, ok: false, detail: adapter.refusal.detail, launch: null, context };
  const launch = await adapter.value.prepare(context);
  return launch.ok
    ? { agent, ok: true, detail: launch.value.argv[0], launch: launch.value, context }
    : { agent, ok: false, detail: launch.refusal.detail, launch: null, context };
}

/** What an examination goes on with. */
export interface Looking {
  readonly place: Place;
  readonly isolation: Isolation;
  readonly hidden: readonly string[];
  readonly runtime: Runtime;
  readonly prepared: readonly Prepared[];
}
