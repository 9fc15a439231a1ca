import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { chmod, chown, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { adapterFor } from '../agents/adapters.ts';
import { permissionPromptIn } from '../agents/permissionPrompt.ts';
import type { AgentAdapter, Failure, SessionContext } from '../agents/port.ts';
import { sessionEnvironment } from '../agents/sessionEnvironment.ts';
import { restoreProtected } from '../evaluators/placement.ts';
import { checkProtected } from '../evaluators/protectedFiles.ts';
import { removeFolder } from '../machines/isolation.ts';
import { freezeTree, thawTree } from '../machines/freezeTree.ts';
import { readOutput, outputLength } from '../machines/outputLog.ts';
import type { EndedProcess, ProgramSpec } from '../machines/port.ts';
import { describeProcess } from '../machines/processes.ts';
import { membersOf, type ProcessTree } from '../machines/processTree.ts';
import { treeOfRunner } from '../machines/runnerControl.ts';
import { closureOf, decideAttemptEnd } from '../options/decide.ts';
import { latestAttempt } from '../options/evolve.ts';
import type { Attempt, AttemptExit, Closure, Option, SessionName } from '../options/model.ts';
import type { Review } from '../review/model.ts';
import type { AgentSlot } from '../task/model.ts';
import { reviewerGrace } from '../run/schedule.ts';
import { sessionConfinement, writeLoginProfile } from './confinement.ts';
import { crashAt } from './crashPoints.ts';
import { bringLogin, followLogin, type LoginSession } from './logins.ts';
import { writeSessionPrompt } from './materials.ts';
import { endProgram, supervise, type ProgramEnd } from './programs.ts';
import { followResponses, type Following } from './responses.ts';
import type { Room } from './room.ts';
import { newNonce, sessionIdOf, SessionFolder } from './sessionFolders.ts';

/** A session in the state: an option or the review. */
export type Session = Option | Review;

/** The session's state by name; undefined when it was never opened. */
export const sessionOf = (room: Room, name: SessionName): Session | undefined =>
  name.kind === 'review' ? (room.recorder.state.review ?? undefined) : room.recorder.state.options[name.number - 1];

/** Whose turn a session is. */
export const agentOf = (session: Session): AgentSlot => ('reviewer' in session ? session.reviewer : session.agent);

/** The adapter of a session's agent; contracts with unknown adapters are refused before a run starts. */
export function adapterOf(room: Room, session: Session): AgentAdapter {
  const found = adapterFor(room.contract.agents[agentOf(session)]);
  if (!found.ok) throw new Error(found.refusal.detail);
  return found.value;
}

const folderOf = (room: Room, name: SessionName): SessionFolder => new SessionFolder(room.files.sessions, name);

/** Writes the intent of another attempt; the next look at the state starts it. */
export function beginAttempt(room: Room, name: SessionName): void {
  const session = sessionOf(room, name);
  if (!session) return;
  const prompt = writeSessionPrompt(room, name, session);
  const promptHash = createHash('sha256').update(prompt).digest('hex');
  const attempt = session.attempts.length + 1;
  room.recorder.append([{ type: 'attempt.starting', data: { session: name, attempt, nonce: newNonce(), promptHash } }]);
}

/** Sees one attempt through: starts it if nothing did, adopts it if it lives, records its end. */
export async function superviseAttempt(room: Room, name: SessionName, attempt: Attempt): Promise<void> {
  const folder = folderOf(room, name);
  const dir = folder.attempt(attempt.number);
  using following = followAttempt(room, { name, attempt, dir });
  using login = followLogin(room, loginOf(room, name, attempt));
  const end = await supervise({
    dir,
    nonce: attempt.nonce,
    tier: room.isolation.tier,
    runtime: room.runtime,
    prepare: () => prepareAttempt(room, name, attempt),
    beforeSpawn: () => crashAt('attempt.beforeSpawn', name.kind),
    afterSpawn: () => crashAt('attempt.spawned', name.kind),
    onStarted(runner) {
      if (currentAttempt(room, name, attempt)?.state !== 'starting') return;
      room.recorder.append([{ type: 'attempt.started', data: { session: name, attempt: attempt.number, runner } }]);
    },
    onSpoke() {
      const now = currentAttempt(room, name, attempt);
      if (now?.state !== 'running' || now.spokeAt !== null) return;
      room.recorder.append([
        { type: 'attempt.spoke', data: { session: name, attempt: attempt.number, mono: room.clock.now().mono } },
      ]);
    },
  });
  await login.finish();
  // the end is told last: before it nobody removes the HOME in which the words lie
  await following?.finish();
  await recordAttemptEnd(room, { name, attempt, dir, end });
}

function followAttempt(
  room: Room,
  given: { readonly name: SessionName; readonly attempt: Attempt; readonly dir: string },
): Following | null {
  const session = sessionOf(room, given.name);
  if (!session) return null;
  const folder = folderOf(room, given.name);
  const cwd = given.name.kind === 'review' ? folder.scratch : room.workspace;
  return followResponses(room, { ...given, adapter: adapterOf(room, session), home: homeOf(room, folder), cwd });
}

/** The HOME of a session: its own, or the user's where the contract says so. */
const homeOf = (room: Room, folder: SessionFolder): string =>
  room.contract.isolation.ownHome ? folder.home : (room.env['HOME'] ?? folder.home);

const currentAttempt = (room: Room, name: SessionName, attempt: Attempt): Attempt | undefined =>
  sessionOf(room, name)?.attempts.find(({ nonce }) => nonce === attempt.nonce);

/** What decides about an attempt's login; null when the session is not there. */
function loginOf(room: Room, name: SessionName, attempt: Attempt): LoginSession | null {
  const session = sessionOf(room, name);
  if (!session) return null;
  const agent = room.contract.agents[agentOf(session)];
  return { adapter: adapterOf(room, session), agent, nonce: attempt.nonce };
}

async function prepareAttempt(
  room: Room,
  name: SessionName,
  attempt: Attempt,
): Promise<{ spec: ProgramSpec; environment: Record<string, string> } | string> {
  const session = sessionOf(room, name);
  if (!session) return 'the session is not there';
  const folder = folderOf(room, name);
  const review = name.kind === 'review';
  const adapter = adapterOf(room, session);
  const agent = room.contract.agents[agentOf(session)];
  const ownHome = room.contract.isolation.ownHome;
  const home = homeOf(room, folder);
  const promptFile = join(folder.shown, 'prompt.md');
  const uid = review ? room.isolation.reviewUid : room.isolation.sessionUid;
  await freshFolders(folder, { ownHome, uid });
  writeFileSync(folder.inbox(attempt.number), '', { flag: 'a', mode: 0o644 });
  const context: SessionContext = {
    role: review ? 'review' : 'explore',
    agent,
    workspace: room.workspace,
    cwd: review ? folder.scratch : room.workspace,
    home,
    tmp: folder.tmp,
    folder: folder.path,
    prompt: await readFile(promptFile, 'utf8'),
    promptFile,
    option: 'number' in session ? session.number : 0,
    attempt: attempt.number,
    sessionId: sessionIdOf(attempt.nonce),
    isolated: room.isolation.tier !== 'none',
    hides: room.isolation.tier === 'bubblewrap',
    mode: room.contract.policy.mode,
    drive: [room.runtime.node, room.runtime.drive],
    inbox: folder.inbox(attempt.number),
    login: join(room.home, 'logins', agent.adapter),
    outerEnvironment: {
      ...room.env,
      HMA_DEMO_AGENTS: room.env['HMA_DEMO_AGENTS'] ?? join(room.runtime.sample, 'agents'),
    },
  };
  const wanted = (): boolean => sessionOf(room, name)?.state === 'open';
  const dir = folder.attempt(attempt.number);
  if (!(await bringLogin(room, { adapter, agent, nonce: attempt.nonce, dir, home, wanted })))
    return 'it was given up while it waited for its login';
  const launch = await adapter.prepare(context);
  if (!launch.ok) return launch.refusal.detail;
  const { argv, stdin } = launch.value;
  const environment = sessionEnvironment({
    context,
    launch: launch.value,
    named: room.contract.environment,
    token: folder.readToken(),
    socket: room.agentSocket,
    shimFolder: room.runtime.shims,
    run: room.recorder.state.run,
  });
  if (ownHome) writeLoginProfile(home, environment['PATH'] ?? '');
  const spec: ProgramSpec = {
    nonce: attempt.nonce,
    kind: review ? 'review' : 'attempt',
    argv,
    cwd: context.cwd,
    graceMs: graceOf(room, session),
    polite: { signal: adapter.politeSignal, to: adapter.politeTo },
    ...(adapter.harness && { groupIsOwn: true as const }),
    outputBytes: room.contract.limits.outputBytes,
    ...(stdin === undefined ? {} : { stdin }),
    confinement: sessionConfinement({
      role: context.role,
      contract: room.contract,
      isolation: room.isolation,
      workspace: room.workspace,
      ...{ home, tmp: folder.tmp, scratch: folder.scratch, shown: folder.shown },
      runtimeFolder: room.runtime.folder,
      agentSocket: room.agentSocket,
      hidden: room.hidden,
      launch: launch.value,
    }),
  };
  return { spec, environment };
}

/** A fresh context by construction (invariant 4): HOME and TMPDIR of an earlier attempt are gone before the next one starts. */
async function freshFolders(
  folder: SessionFolder,
  given: { readonly ownHome: boolean; readonly uid: number | undefined },
): Promise<void> {
  const { ownHome, uid } = given;
  for (const path of ownHome ? [folder.home, folder.tmp] : [folder.tmp]) {
    if (existsSync(path)) await removeFolder(path);
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
  if (uid !== undefined && existsSync(folder.scratch)) await chown(folder.scratch, uid, uid);
  await chmod(folder.shown, 0o755);
}

async function recordAttemptEnd(
  room: Room,
  done: { name: SessionName; attempt: Attempt; dir: string; end: ProgramEnd },
): Promise<void> {
  const { name, attempt, dir, end } = done;
  const session = sessionOf(room, name);
  const now = currentAttempt(room, name, attempt);
  if (!session || !now || now.state === 'ended') return;
  const exit = exitOf(end);
  const endedItself = end.kind === 'ended' && end.report.cause === 'exit' && isOwnEnd(session, now, end.report.mono);
  const failure = failureOf(room, { session, attempt: now, dir, end, endedItself });
  const option = 'number' in session ? session : null;
  room.recorder.append([
    decideAttemptEnd(
      room.recorder.state,
      { session: name, attempt: now, option, exit, endedItself, failure },
      room.recorder.given(),
    ),
  ]);
}

function exitOf(end: ProgramEnd): AttemptExit | null {
  if (end.kind !== 'ended') return null;
  const { code, signal, cause, mono, boot } = end.report;
  return { code, signal, cause, mono, boot };
}

/** An end is the agent's own iff its exit stamp precedes the intent to end it, which was on disk before any signal. */
function isOwnEnd(session: Session, attempt: Attempt, exitMono: number): boolean {
  if (attempt.state === 'running' && attempt.ending !== null) return false;
  return session.endingMono === null || exitMono < session.endingMono;
}

function failureOf(
  room: Room,
  done: { session: Session; attempt: Attempt; dir: string; end: ProgramEnd; endedItself: boolean },
): Failure | null {
  const { session, attempt, dir, end } = done;
  const asked = attempt.state === 'running' && attempt.ending === 'stall' ? promptOf(dir) : null;
  if (asked !== null) return { reason: 'stall', detail: `it waited for an answer that nobody could give: ${asked}` };
  if (attempt.state === 'running' && attempt.ending === 'stall')
    return {
      reason: 'stall',
      detail: `no output, CPU or GPU use for ${Math.round(room.contract.stallMs / 60_000)} min`,
    };
  if (session.state !== 'open') return null; // we ended it
  switch (end.kind) {
    case 'not_started':
      return { reason: 'not_started', detail: end.detail };
    case 'lost':
      return { reason: 'runner_lost', detail: 'its runner vanished (killed, or the machine restarted)' };
    case 'ended': {
      if (end.report.outOfMemory)
        return { reason: 'out_of_memory', detail: 'the kernel ended it because memory ran out' };
      const length = outputLength(dir);
      const { bytes } = readOutput(dir, Math.max(0, length - 65_536), 65_536);
      return adapterOf(room, session).classify({ exit: end.report, outputTail: bytes, wall: end.report.wall });
    }
  }
}

/** The question to a person that an attempt's output ends with; null for none. */
export function promptOf(dir: string): string | null {
  const { bytes } = readOutput(dir, Math.max(0, outputLength(dir) - 4096), 4096);
  return permissionPromptIn(new TextDecoder().decode(bytes));
}

/** The process tree of a session's current attempt; null when nothing was started. */
export function treeOf(room: Room, name: SessionName): ProcessTree | null {
  const session = sessionOf(room, name);
  const attempt = session && latestAttempt(session);
  if (!attempt) return null;
  return treeOfRunner({
    dir: folderOf(room, name).attempt(attempt.number),
    nonce: attempt.nonce,
    tier: room.isolation.tier,
  });
}

/** Freezes or thaws a running session's whole tree; idempotent. */
export async function setFrozen(room: Room, name: SessionName, frozen: boolean): Promise<void> {
  const tree = treeOf(room, name);
  if (tree) await (frozen ? freezeTree(tree) : thawTree(tree));
}

/** Which session is to end, and why. */
export type SessionEnd =
  | { readonly kind: 'option'; readonly number: number; readonly reason: Closure }
  | { readonly kind: 'review'; readonly reason: NonNullable<Review['endReason']> };

/** Writes the intent to end a session, with what lives of it, before anything is signalled. */
export function intendEnd(room: Room, end: SessionEnd): void {
  const tree = treeOf(room, end);
  const descendants = tree
    ? membersOf(tree).map((one) => ({ pid: one.pid, start: one.start, command: describeProcess(one).command }))
    : [];
  room.recorder.append([
    end.kind === 'option'
      ? { type: 'option.ending', data: { option: end.number, reason: end.reason, descendants } }
      : { type: 'review.ending', data: { reason: end.reason, descendants } },
  ]);
}

/** How long a session's programs may take to end politely, ms; a reviewer only so long that its result is committed inside the window. */
function graceOf(room: Room, session: Session): number {
  const { graceMs } = adapterOf(room, session);
  const { recorder } = room;
  return 'reviewer' in session
    ? Math.round(Math.min(graceMs, reviewerGrace(recorder.state, recorder.given())))
    : graceMs;
}

/** Ends everything that a session started: politely, then by force. Returns what was ended and what survives. */
export async function endSessionTree(
  room: Room,
  name: SessionName,
): Promise<{ ended: EndedProcess[]; survivors: EndedProcess[]; ms: number }> {
  const session = sessionOf(room, name);
  const began = performance.now();
  const ended: EndedProcess[] = [];
  const survivors: EndedProcess[] = [];
  for (const attempt of session?.attempts ?? []) {
    if (attempt !== session?.attempts.at(-1) && attempt.state === 'ended' && attempt.exit !== null) continue;
    crashAt('session.beforeSignal', name.kind);
    const tree = await endProgram({
      dir: folderOf(room, name).attempt(attempt.number),
      nonce: attempt.nonce,
      tier: room.isolation.tier,
      graceMs: session ? graceOf(room, session) : 0,
    });
    crashAt('session.signalled', name.kind);
    ended.push(...tree.ended);
    survivors.push(...tree.survivors);
  }
  return { ended, survivors, ms: Math.round(performance.now() - began) };
}

/** Cleans the machine after an option: its HOME and TMPDIR, and protected files that it changed are put back. */
export async function cleanAfterOption(room: Room, number: number): Promise<void> {
  const folder = folderOf(room, { kind: 'option', number });
  for (const path of [folder.home, folder.tmp]) if (existsSync(path)) await removeFolder(path);
  const changes = await checkProtected(room.workspace, room.protectedFiles);
  const { restored, failed } = await restoreProtected(
    room.workspace,
    room.protectedFiles,
    changes.map(({ path }) => path),
  );
  for (const { detail } of failed)
    room.recorder.append([
      { type: 'run.noticed', data: { level: 'warning', code: 'protected_not_restored', text: detail } },
    ]);
  crashAt('session.cleaned');
  room.recorder.append([{ type: 'option.clean', data: { option: number, restored } }]);
}

/** Closes an option in the books, with the workspace's text as it is at the boundary. */
export async function closeOption(room: Room, number: number): Promise<void> {
  const option = room.recorder.state.options[number - 1];
  if (!option) return;
  const captured = await room.snapshots.capture({
    root: room.workspace,
    include: ['.'],
    exclude: ['.hma'],
    kind: 'workspace',
    ref: `workspace/option-${number}`,
  });
  if (!captured.ok)
    room.log(`no workspace snapshot after option ${number}: ${captured.refusal.reason} ${captured.refusal.detail}`);
  const workspaceSnapshot = captured.ok ? captured.value.id : null;
  const last = latestAttempt(option);
  const endedItself = last?.state === 'ended' && last.endedItself;
  room.recorder.append([
    {
      type: 'option.closed',
      data: { option: number, closure: closureOf(room.recorder.state, option), endedItself, workspaceSnapshot },
    },
  ]);
}
