import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { adapterFor } from '../agents/adapters.ts';
import type { Launch, SessionContext } from '../agents/port.ts';
import { sessionEnvironment } from '../agents/sessionEnvironment.ts';
import { removeFolder } from '../machines/isolation.ts';
import { listGpus } from '../machines/gpus.ts';
import type { ProgramSpec, Tier } from '../machines/port.ts';
import { forgetUid, releaseFolder } from '../machines/uidAccess.ts';
import { pickUids, releaseUids } from '../machines/uidTier.ts';
import type { AgentChoice, Contract } from '../task/model.ts';
import { hiddenPaths, privatePaths, sessionConfinement, writeLoginProfile } from './confinement.ts';
import { runProgram } from './doctorProgram.ts';
import { insideProgram, type InsideAnswers, type InsideQuestions } from './doctorInside.ts';
import type { Isolation } from './room.ts';
import { installRuntime, type Runtime } from './runtime.ts';
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

/** What was found inside the isolation; `answers` is null where nothing could be started, and `detail` says why. */
export interface DoctorReport {
  readonly agents: readonly AgentPrepared[];
  readonly answers: InsideAnswers | null;
  readonly detail: string;
  /** GPUs that the machine has. */
  readonly gpus: number;
  readonly turns: readonly TurnSeen[];
  /** How many hidden paths and private files of other HOMEs were there to be tried. */
  readonly tried: { readonly hidden: number; readonly homes: number };
}

/** Longest time for the program inside, ms: the doctor is to be done within 30 s. */
const insideMs = 20_000;

/**
 * Starts a program in just the confinement that a session would get, under a runner as a session is, and lets it look around: whether
 * state, grades, hidden paths and other HOMEs are closed, `hma` and the agents' programs are found, GPUs and network are there. Nothing of
 * it is left. In tier `uid` a scratch folder stands for the workspace, whose access lists are not touched.
 */
export async function examine(request: DoctorRequest): Promise<DoctorReport> {
  const { contract, home, tier } = request;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const runtime = installRuntime(home);
  const base = mkdtempSync(join(home, 'doctor-'));
  const holder = `doctor ${process.pid}`;
  const uids = tier === 'uid' ? pickUids(holder, 2) : null;
  if (uids && !uids.ok) return nothing(uids.refusal);
  const [sessionUid, reviewUid] = uids?.ok ? uids.value : [];
  const isolation: Isolation = {
    tier,
    nested: 'refused',
    ...(sessionUid === undefined ? {} : { sessionUid }),
    ...(reviewUid === undefined ? {} : { reviewUid }),
  };
  const place = placeIn(base, tier === 'uid' ? join(base, 'workspace') : request.workspace);
  const hidden = hiddenPaths({ home, workspace: request.workspace, tier, env: request.env }, contract);
  try {
    const prepared = await prepareAgents(request, place, runtime);
    return await look(request, { place, isolation, hidden, runtime, prepared });
  } finally {
    if (sessionUid !== undefined) {
      await releaseFolder(place.workspace, sessionUid);
      await forgetUid(sessionUid, [
        base,
        runtime.folder,
        ...hidden,
        ...contract.isolation.readable,
        ...ownHomeOf(request),
      ]);
    }
    releaseUids(holder);
    await removeFolder(base);
  }
}

const ownHomeOf = ({ env }: DoctorRequest): string[] => (env['HOME'] ? [env['HOME']] : []);
const nothing = (detail: string): DoctorReport => ({
  agents: [],
  answers: null,
  detail,
  gpus: 0,
  turns: [],
  tried: { hidden: 0, homes: 0 },
});

interface Place {
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

function placeIn(base: string, workspace: string): Place {
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

type Prepared = AgentPrepared & { readonly launch: Launch | null; readonly context: SessionContext };

async function prepareAgents(request: DoctorRequest, place: Place, runtime: Runtime): Promise<Prepared[]> {
  const { agents, policy } = request.contract;
  const used = policy.mode === 'single' ? [agents[policy.first]] : [agents.A, agents.B];
  const all: Prepared[] = [];
  for (const agent of used) all.push(await prepareAgent(agent, { request, place, runtime }));
  return all;
}

async function prepareAgent(
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
    ...{ isolated: request.tier !== 'none', mode: contract.policy.mode, drive: [runtime.node, runtime.drive] },
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

interface Looking {
  readonly place: Place;
  readonly isolation: Isolation;
  readonly hidden: readonly string[];
  readonly runtime: Runtime;
  readonly prepared: readonly Prepared[];
}

async function look(request: DoctorRequest, looking: Looking): Promise<DoctorReport> {
  const { contract, home } = request;
  const { place, isolation, hidden, runtime, prepared } = looking;
  const launches = prepared.flatMap(({ launch }) => launch ?? []);
  const gpus = (await listGpus()).length;
  const server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const isPrivate = new Set(privatePaths(request.env, contract));
  const questions: InsideQuestions = {
    closed: {
      state: [place.secret, ...['workspaces', 'logins'].map((name) => join(home, name))],
      hidden: hidden.filter((path) => path !== home && !isPrivate.has(path)),
      homes: [...isPrivate],
    },
    workspace: place.workspace,
    port: (server.address() as AddressInfo).port,
    gpus: gpus > 0,
    programs: await versions(looking),
  };
  const context = prepared[0]?.context;
  const launch: Launch = {
    argv: [runtime.node, '--input-type=module', '-e', insideProgram, JSON.stringify(questions)],
    environment: {},
    readable: launches.flatMap(({ readable }) => readable),
    writable: launches.flatMap(({ writable }) => writable),
  };
  try {
    if (!context) return nothing('the task names no agent');
    const confinement = sessionConfinement({
      ...{ role: 'explore', contract, isolation, hidden, launch },
      ...{ workspace: place.workspace, home: context.home, tmp: place.tmp, scratch: place.scratch, shown: place.shown },
      ...{ runtimeFolder: runtime.folder, agentSocket: join(place.sockets, 'agent') },
    });
    const environment = sessionEnvironment({
      ...{ context, launch, named: [], token: 'none', socket: join(place.sockets, 'agent') },
      ...{ shimFolder: runtime.shims, run: 'doctor' },
    });
    if (contract.isolation.ownHome) writeLoginProfile(place.home, environment['PATH'] ?? '');
    const spec: ProgramSpec = {
      ...{ nonce: newNonce(), kind: 'probe', argv: launch.argv, cwd: place.workspace, confinement },
      ...{ graceMs: 500, timeoutMs: insideMs },
    };
    const { answers, detail } = await runInside(place, { spec, environment, runtime });
    const tried = { hidden: questions.closed.hidden.length, homes: questions.closed.homes.length };
    return {
      agents: prepared.map(({ agent, ok, detail: why }) => ({ agent, ok, detail: why })),
      answers,
      detail,
      gpus,
      turns: await turns(request, looking),
      tried,
    };
  } finally {
    server.close();
  }
}

/** Each agent's own program with `--version`; a `command` may mean anything by that, and is not started. */
async function versions({ prepared }: Looking): Promise<readonly (readonly [string, ...string[]])[]> {
  const found = await Promise.all(
    prepared.map(async ({ agent, context }) => {
      const adapter = adapterFor(agent);
      const harness = adapter.ok ? adapter.value.harness : undefined;
      const installed = await harness?.find(agent, context.outerEnvironment);
      return installed?.ok ? [[installed.value.program, '--version'] as const] : [];
    }),
  );
  return found.flat();
}

async function runInside(
  place: Place,
  given: { spec: ProgramSpec; environment: Record<string, string>; runtime: Runtime },
): Promise<Pick<DoctorReport, 'answers' | 'detail'>> {
  const { output, why } = await runProgram(place.runner, given);
  const text = new TextDecoder().decode(output).trim();
  try {
    return { answers: JSON.parse(text.split('\n').at(-1) ?? '') as InsideAnswers, detail: '' };
  } catch {
    return { answers: null, detail: `${why}${text === '' ? '' : `: ${text.slice(-300)}`}` };
  }
}

/** Harnesses that add the API's version to their base URL themselves. */
const rooted: ReadonlySet<string> = new Set(['claude-code', 'gemini']);

/** Longest time for one scripted turn, ms. */
const turnMs = 15_000;

/**
 * One turn of each agent whose harness is a product, in the session's confinement and through its own adapter, against a test endpoint that
 * speaks its protocol: no key of the user's is sent there.
 */
async function turns(request: DoctorRequest, looking: Looking): Promise<TurnSeen[]> {
  const { endpoint, contract } = request;
  if (endpoint === undefined) return [];
  const { place, runtime, isolation, hidden } = looking;
  const harnessed = looking.prepared.filter(({ agent }) => {
    const found = adapterFor(agent);
    return found.ok && found.value.harness !== undefined;
  });
  return await Promise.all(
    harnessed.map(async ({ agent: choice }, index): Promise<TurnSeen> => {
      const { preset: _preset, ...bare } = choice;
      const agent: AgentChoice = {
        ...bare,
        baseUrl: rooted.has(choice.adapter) ? endpoint : `${endpoint}/v1`,
        keyVariable: 'HMA_DOCTOR_KEY',
        model: choice.model ?? 'scripted',
      };
      const at = (name: string): string => join(place.base, `${name}-${index}`);
      const own = { ...place, home: at('home'), tmp: at('tmp') };
      for (const path of [own.home, own.tmp]) mkdirSync(path, { mode: 0o700 });
      const env = { ...request.env, HMA_DOCTOR_KEY: 'scripted-key-of-the-doctor' };
      const ownHome = {
        ...request,
        env,
        contract: { ...contract, isolation: { ...contract.isolation, ownHome: true } },
      };
      const { launch, context, detail } = await prepareAgent(agent, { request: ownHome, place: own, runtime });
      const adapter = adapterFor(agent);
      if (!launch || !adapter.ok) return { agent: choice.name, ok: false, detail };
      const confinement = sessionConfinement({
        ...{ role: 'explore', contract: ownHome.contract, isolation, hidden, launch, workspace: place.workspace },
        ...{ home: own.home, tmp: own.tmp, scratch: place.scratch, shown: place.shown },
        ...{ runtimeFolder: runtime.folder, agentSocket: join(place.sockets, 'agent') },
      });
      const environment = sessionEnvironment({
        ...{ context, launch, named: [], token: 'none', socket: join(place.sockets, 'agent') },
        ...{ shimFolder: runtime.shims, run: 'doctor' },
      });
      const { politeSignal: signal, politeTo: to, classify } = adapter.value;
      const spec: ProgramSpec = {
        ...{ nonce: newNonce(), kind: 'probe', argv: launch.argv, cwd: place.workspace, confinement },
        ...{ graceMs: 2000, timeoutMs: turnMs, polite: { signal, to } },
        ...(launch.stdin === undefined ? {} : { stdin: launch.stdin }),
      };
      const { seen, output, why } = await runProgram(at('runner'), { spec, environment, runtime });
      const failure =
        seen.kind === 'ended' ? classify({ exit: seen.report, outputTail: output, wall: seen.report.wall }) : null;
      return {
        agent: choice.name,
        ok: why === '' && failure === null,
        detail: failure ? `${failure.reason}: ${failure.detail}` : why,
      };
    }),
  );
}
