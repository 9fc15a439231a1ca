import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Clock, Instant } from '../base/clock.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { loadProtected, protectFiles, type ProtectedFiles } from '../evaluators/protectedFiles.ts';
import { describeLedgerRefusal, openLedger, type Ledger } from '../ledger/openLedger.ts';
import type { LedgerEvent } from '../ledger/port.ts';
import { readLedger } from '../ledger/readLedger.ts';
import { chooseTier } from '../machines/isolation.ts';
import { describeTier } from '../machines/describeTier.ts';
import { probeTiers } from '../machines/probeTiers.ts';
import { observeRunner } from '../machines/runnerControl.ts';
import { pickUids } from '../machines/uidTier.ts';
import type { Tier } from '../machines/port.ts';
import { latestAttempt } from '../options/evolve.ts';
import { activeAfterAbsence } from '../run/activeClock.ts';
import type { RunFact } from '../run/events.ts';
import { evolveRun, replayRun } from '../run/evolve.ts';
import type { EarlierRun, RunState, Terms } from '../run/model.ts';
import { openSnapshots } from '../snapshots/store.ts';
import { contractHash, thawContract } from '../task/freeze.ts';
import type { Contract } from '../task/model.ts';
import { carry } from './carry.ts';
import { hiddenPaths } from './confinement.ts';
import { crashAt } from './crashPoints.ts';
import type { runFiles } from '../ledger/places.ts';
import type { RunRecord, StartRefusal } from './launch.ts';
import { usuallyStatedIn } from './lookBack.ts';
import { acquireLease, describeLeaseRefusal, type Lease, type LeaseOptions } from './lease.ts';
import { whenLedgerFull } from './disks.ts';
import { heartbeatMs } from './monitors.ts';
import { Recorder, type WhenFull } from './recorder.ts';
import type { Isolation, Room } from './room.ts';
import { Standby } from '../machines/standby.ts';
import { runtimeIn } from './runtime.ts';
import { SessionFolder } from './sessionFolders.ts';
import { describeSocketRefusal, socketPaths } from './socketPaths.ts';

/** Why a controller can't take a run up: final for this start, in words. */
export type BootRefusal = StartRefusal;

/** What booting needs. */
export interface BootRequest {
  readonly folder: string;
  readonly files: ReturnType<typeof runFiles>;
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  readonly takeOver: boolean;
  readonly log: (line: string) => void;
  readonly wake: () => void;
  /** Ends this process at once: it is no longer the run's writer. */
  readonly shut: (error: Error) => never;
}

/** A controller that owns its run. */
export interface Booted {
  readonly room: Room;
  readonly lease: Lease;
  readonly clientSocket: string;
}

/** A stretch without any sign of life longer than this is no active time, ms. */
const absenceMs = 3 * heartbeatMs;

/**
 * Restart is the only start: take the lease, replay the ledger, observe the world, go on. The first start of a run also stores the
 * protected files and the files at the start, takes over what it goes on with, and chooses the isolation tier, before the first event.
 */
export async function boot(request: BootRequest): Promise<Result<Booted, BootRefusal>> {
  const { folder, files, clock } = request;
  const record = JSON.parse(readFileSync(files.run, 'utf8')) as RunRecord;
  const contract = thawContract(readFileSync(files.contract, 'utf8'));
  if (!contract.ok)
    return refused({
      reason: 'contract',
      text: `${files.contract}: ${contract.refusal.what}`,
      fix: contract.refusal.fix,
    });
  if (!existsSync(record.workspace))
    return refused({
      reason: 'workspace',
      text: `the workspace ${record.workspace} is not there`,
      fix: 'mount or restore it, then hma resume',
    });
  const sockets = socketPaths({ run: record.run, env: request.env });
  if (!sockets.ok)
    return refused({ reason: 'unwritable', text: describeSocketRefusal(sockets.refusal), fix: 'see above' });
  const lease = await acquirePatiently({
    workspace: record.workspace,
    stateDir: folder,
    runId: record.run,
    sockets: sockets.value,
    clock,
    takeOver: request.takeOver,
    crashPoint: crashAt,
  });
  if (!lease.ok) {
    const reason = lease.refusal.reason === 'held' ? 'held' : 'unwritable';
    return refused({ reason, text: describeLeaseRefusal(lease.refusal), fix: '' });
  }
  const taken = await takeUp(request, { record, contract: contract.value, lease: lease.value, sockets: sockets.value });
  if (!taken.ok) lease.value.release();
  return taken;
}

/** How long a controller whose run is over is waited for: it stays a moment for its last clients, ms. */
const lingerMs = 40_000;

/** Takes the lease; an owner whose run is over is about to leave, and isn't held against anybody. */
async function acquirePatiently(options: LeaseOptions): Promise<Awaited<ReturnType<typeof acquireLease>>> {
  const until = performance.now() + lingerMs;
  for (;;) {
    const lease = await acquireLease(options);
    if (lease.ok || lease.refusal.reason !== 'held' || performance.now() > until) return lease;
    const { owner } = lease.refusal;
    const isOver =
      owner.run !== options.runId && readLedger(owner.stateDir).events.some(({ type }) => type === 'run.finished');
    if (!isOver) return lease;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

interface Taking {
  readonly record: RunRecord;
  readonly contract: Contract;
  readonly lease: Lease;
  readonly sockets: { readonly client: string; readonly agent: string };
}

async function takeUp(request: BootRequest, taking: Taking): Promise<Result<Booted, BootRefusal>> {
  const { folder, files, clock, env } = request;
  const { record, contract, lease, sockets } = taking;
  for (const each of [files.sessions, files.evaluations]) mkdirSync(each, { recursive: true, mode: 0o700 });
  const now = { recorder: undefined as Recorder | undefined };
  const crashPoint = (point: Parameters<typeof crashAt>[0]): void => crashAt(point, now.recorder?.appending ?? 'start');
  const opened = openLedger({ dir: folder, fence: lease.fence, confirmFence: () => lease.confirmFence(), crashPoint });
  if (!opened.ok) return refused({ reason: 'broken_ledger', text: describeLedgerRefusal(opened.refusal), fix: '' });
  const { ledger, events, problems } = opened.value;
  for (const problem of problems) request.log(`ledger: ${problem.file}:${problem.line}: ${problem.detail}`);
  const snapshots = await openSnapshots({
    dir: files.snapshots,
    env: { PATH: env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' },
    crashPoint: (point) => crashAt(point, now.recorder?.state.options.at(-1)?.state ?? 'start'),
  });
  const replayed = replayRun(events);
  const isolation = await isolate(request, { contract, run: record.run, fixed: replayed?.isolation.tier ?? null });
  if (!isolation.ok) return isolation;
  const unasked = isolation.value.tier === 'none' && replayed === null ? bypassing(contract) : [];
  if (unasked.length > 0 && record.acceptsBypass !== true)
    return refused({
      reason: 'bypass',
      text: sayBypass(unasked),
      fix: 'say yes with hma run --accept-bypass, or write permissions: limited for them, or use isolation',
    });
  const protectedFiles = await protect(files.protected, {
    workspace: record.workspace,
    contract,
    first: replayed === null,
  });
  if (!protectedFiles.ok) return protectedFiles;
  const runtime = runtimeIn(import.meta.dirname);
  const room = (recorder: Recorder): Room => ({
    recorder,
    contract,
    workspace: record.workspace,
    home: record.home,
    folder,
    files,
    clock,
    snapshots,
    protectedFiles: protectedFiles.value,
    runtime,
    standby: new Standby(runtime),
    isolation: isolation.value,
    env,
    agentSocket: sockets.agent,
    hidden: hiddenPaths({ ...record, tier: isolation.value.tier, env }, contract),
    log: request.log,
    wake: request.wake,
  });
  const facts: RunFact[] = [];
  if (replayed === null) {
    const { workspace, statedIn = usuallyStatedIn } = record;
    const carried =
      record.from === undefined ? null : await carry({ folder: record.from, workspace, contract, statedIn, snapshots });
    if (carried?.ok === false) return carried;
    const initial = await snapshots.capture({
      root: record.workspace,
      include: contract.candidate,
      exclude: ['.hma'],
      kind: 'candidate',
      ref: 'initial',
    });
    if (!initial.ok && initial.refusal.reason !== 'missing')
      request.log(`no snapshot of the files at the start: ${initial.refusal.detail}`);
    facts.push(
      openedFact({
        ...{ record, contract, tier: isolation.value.tier, initial: initial.ok ? initial.value.id : null },
        from: carried?.value.from,
      }),
      ...(carried?.value.facts ?? []),
    );
  }
  if (unasked.length > 0)
    facts.push({
      type: 'run.noticed',
      data: { level: 'warning', code: 'bypass', text: `${sayBypass(unasked)}; a person has said yes to it` },
    });
  const recorder = start({
    ledger,
    events,
    replayed,
    facts,
    clock,
    fence: lease.fence,
    alive: lastAlive(request, events, replayed),
    version: runtimeIn(import.meta.dirname).version,
    whenFull: whenLedgerFull({ folder, workspace: record.workspace, contract, env, isolation: isolation.value }),
    shut: request.shut,
  });
  now.recorder = recorder;
  return ok({ room: room(recorder), lease, clientSocket: sockets.client });
}

/** Writes this start (and the run's opening) with the clock where it belongs, and gives the recorder its state. */
function start(given: {
  ledger: Ledger;
  events: readonly LedgerEvent[];
  replayed: RunState | null;
  facts: readonly RunFact[];
  clock: Clock;
  fence: number;
  alive: Pick<Instant, 'mono' | 'boot'>;
  version: string;
  whenFull: WhenFull;
  shut: (error: Error) => never;
}): Recorder {
  const { ledger, events, replayed, clock, fence, version } = given;
  const now = clock.now();
  const { active, gapMs } = replayed
    ? activeAfterAbsence({ clock: replayed.clock, lastAlive: given.alive, now, toleranceMs: absenceMs })
    : { active: 0, gapMs: 0 };
  const facts: RunFact[] = [
    ...given.facts,
    { type: 'controller.started', data: { pid: process.pid, fence, version, boot: now.boot, gapMs } },
  ];
  const stamped = ledger.append(
    facts.map(({ type, data }) => ({ v: 1, wall: now.wall, mono: now.mono, active, type, data })),
  );
  let state = replayed;
  for (const event of stamped) state = evolveRun(state, event);
  if (!state) throw new Error('the ledger does not begin with run.opened');
  return new Recorder({
    ledger,
    clock,
    state,
    history: [...events, ...stamped],
    whenFull: given.whenFull,
    shut: given.shut,
  });
}

/** The latest sign of life of anything of the run: the last event, the controller's heartbeat, the runner's heartbeat or end. */
function lastAlive(
  request: BootRequest,
  events: readonly LedgerEvent[],
  state: RunState | null,
): Pick<Instant, 'mono' | 'boot'> {
  const now = request.clock.now();
  const last = events.at(-1);
  const signs: Pick<Instant, 'mono' | 'boot'>[] = [];
  if (last && state) signs.push({ mono: last.mono, boot: state.clock.boot });
  try {
    signs.push(JSON.parse(readFileSync(request.files.alive, 'utf8')) as Instant);
  } catch {
    // no heartbeat yet
  }
  const option = state?.options.at(-1);
  for (const [name, session] of [
    [{ kind: 'option', number: option?.number ?? 0 } as const, option],
    [{ kind: 'review' } as const, state?.review],
  ] as const) {
    const attempt = session && latestAttempt(session);
    if (!attempt) continue;
    const seen = observeRunner(new SessionFolder(request.files.sessions, name).attempt(attempt.number), request.clock);
    if (seen.kind === 'ended') signs.push(seen.report);
    if (seen.kind === 'running') signs.push(now);
    if (seen.kind === 'running' && seen.lastHeartbeat) signs.push(seen.lastHeartbeat);
  }
  const here = signs.filter((sign) => sign.boot === now.boot);
  const pool = here.length > 0 ? here : signs.filter((sign) => sign.boot === state?.clock.boot);
  return pool.toSorted((a, b) => b.mono - a.mono)[0] ?? now;
}

/** Names of the agents of a run that never ask before they act. */
function bypassing({ agents, policy }: Contract): string[] {
  const all = policy.mode === 'single' ? [agents[policy.first]] : [agents.A, agents.B];
  return all.filter(({ permissions }) => permissions === 'bypass').map(({ name }) => name);
}

const sayBypass = (names: readonly string[]): string =>
  `${names.join(' and ')} would act without asking (permissions: bypass) and without isolation: whatever you can read, change, delete or send from this machine, they can too`;

async function isolate(
  request: BootRequest,
  given: { contract: Contract; run: string; fixed: Tier | null },
): Promise<Result<Isolation, BootRefusal>> {
  const { contract, run, fixed } = given;
  const scratch = join(request.folder, 'probe');
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const { node } = runtimeIn(import.meta.dirname);
  // absolute paths for the evaluator exist in bubblewrap alone: a weaker tier would fail at the first submission
  const needed = contract.isolation.tier === 'auto' && contract.evaluate.binds ? 'bubblewrap' : contract.isolation.tier;
  const wanted = fixed ?? needed;
  // A restart asks for the tier of the run alone, and is quick; the others are looked at only for a choice or for words.
  const asked = wanted === 'auto' ? [] : await probeTiers({ node, scratch, tiers: [wanted] });
  const probes = asked.some(({ available }) => available) ? asked : await probeTiers({ node, scratch });
  const tier = chooseTier(wanted, probes);
  if (!tier.ok)
    return refused({
      reason: 'isolation',
      text: tier.refusal.message,
      fix: 'install bubblewrap, or set `isolation:` in hma.yaml',
    });
  const nested = probes.find((probe) => probe.tier === 'bubblewrap')?.nested ?? 'refused';
  if (tier.value !== 'uid') return ok({ tier: tier.value, nested });
  const uids = pickUids(run, 3);
  if (!uids.ok)
    return refused({
      reason: 'isolation',
      text: uids.refusal,
      fix: 'set `isolation: none` in hma.yaml, or free some user ids',
    });
  const [sessionUid = 0, reviewUid = 0, evaluationUid = 0] = uids.value;
  return ok({ tier: 'uid', nested, sessionUid, reviewUid, evaluationUid });
}

async function protect(
  store: string,
  given: { workspace: string; contract: Contract; first: boolean },
): Promise<Result<ProtectedFiles, BootRefusal>> {
  const { workspace, contract, first } = given;
  const stored = first
    ? await protectFiles({ workspace, patterns: contract.protected, store })
    : await loadProtected(store);
  if (!stored.ok)
    return refused({
      reason: 'workspace',
      text: `protected files: ${stored.refusal.path}: ${stored.refusal.detail}`,
      fix: 'correct `protected:` or the file, then start again',
    });
  if (stored.value === null)
    return refused({ reason: 'failed', text: `${store} is gone`, fix: 'restore the state folder from a backup' });
  return ok(stored.value);
}

function openedFact(given: {
  record: RunRecord;
  contract: Contract;
  tier: Tier;
  initial: string | null;
  from: EarlierRun | undefined;
}): RunFact {
  const { record, contract, tier, initial, from } = given;
  return {
    type: 'run.opened',
    data: {
      run: record.run,
      workspace: record.workspace,
      contractHash: contractHash(contract),
      terms: termsOf(contract),
      budgets: contract.budgets,
      tier,
      cannot: describeTier(tier).cannot,
      initial,
      ...(from === undefined ? {} : { from }),
    },
  };
}

/** The part of the contract that the ledger keeps for decisions and clients. */
function termsOf(contract: Contract): Terms {
  const {
    name,
    metric,
    feedback,
    policy,
    lateRule,
    fallback,
    failures,
    stallMs,
    stopAfterBarren,
    limits,
    agents,
    evaluate,
  } = contract;
  const named = (slot: 'A' | 'B') => ({ name: agents[slot].name, adapter: agents[slot].adapter });
  return {
    name,
    metric,
    feedback,
    policy,
    lateRule,
    fallback,
    failures,
    stallMs,
    stopAfterBarren,
    limits,
    agents: { A: named('A'), B: named('B') },
    evaluate: { repeats: evaluate.repeats, exclusive: evaluate.exclusive, timeoutMs: evaluate.timeoutMs },
    validates: contract.validate !== null,
    grades: contract.grade !== null,
  };
}
