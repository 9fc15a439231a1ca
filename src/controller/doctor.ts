import { mkdirSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { adapterFor } from '../agents/adapters.ts';
import type { Launch } from '../agents/port.ts';
import { sessionEnvironment } from '../agents/sessionEnvironment.ts';
import { removeFolder } from '../machines/isolation.ts';
import { listGpus } from '../machines/gpus.ts';
import type { ProgramSpec } from '../machines/port.ts';
import { forgetUid, releaseFolder } from '../machines/uidAccess.ts';
import { pickUids, releaseUids } from '../machines/uidTier.ts';
import { hiddenPaths, privatePaths, sessionConfinement, writeLoginProfile } from './confinement.ts';
import { insideProgram, type InsideAnswers, type InsideQuestions } from './doctorInside.ts';
import {
  placeIn,
  prepareAgents,
  type AgentPrepared,
  type DoctorRequest,
  type Looking,
  type Place,
  type TurnSeen,
} from './doctorPlace.ts';
import { runProgram } from './doctorProgram.ts';
import { turns } from './doctorTurns.ts';
import type { Isolation } from './room.ts';
import { installRuntime } from './runtime.ts';
import { newNonce } from './sessionFolders.ts';

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
    const { answers, detail } = await runInside(place, { spec, environment, runtime, signal: request.signal });
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
  given: Parameters<typeof runProgram>[1],
): Promise<Pick<DoctorReport, 'answers' | 'detail'>> {
  const { output, why } = await runProgram(place.runner, given);
  const text = new TextDecoder().decode(output).trim();
  try {
    return { answers: JSON.parse(text.split('\n').at(-1) ?? '') as InsideAnswers, detail: '' };
  } catch {
    return { answers: null, detail: `${why}${text === '' ? '' : `: ${text.slice(-300)}`}` };
  }
}
