import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { adapterFor } from '../agents/adapters.ts';
import { sessionEnvironment } from '../agents/sessionEnvironment.ts';
import type { ProgramSpec } from '../machines/port.ts';
import type { AgentChoice } from '../task/model.ts';
import { sessionConfinement } from './confinement.ts';
import { prepareAgent, type DoctorRequest, type Looking, type TurnSeen } from './doctorPlace.ts';
import { runProgram } from './doctorProgram.ts';
import { newNonce } from './sessionFolders.ts';

/** Harnesses that add the API's version to their base URL themselves. */
const rooted: ReadonlySet<string> = new Set(['claude-code', 'gemini']);

/** Longest time for one scripted turn, ms. */
const turnMs = 15_000;

/**
 * One turn of each agent whose harness is a product, in the session's confinement and through its own adapter, against a test endpoint that
 * speaks its protocol: no key of the user's is sent there.
 */
export async function turns(request: DoctorRequest, looking: Looking): Promise<TurnSeen[]> {
  const { endpoint, contract } = request;
  if (endpoint === undefined) return [];
  const { place, runtime, isolation, hidden } = looking;
  const harnessed = looking.prepared.filter(({ agent }) => {
    const found = adapterFor(agent);
    return found.ok && found.value.harness !== undefined;
  });
  return await Promise.all(
    harnessed.map(async ({ agent: choice }, index): Promise<TurnSeen> => {
      const agent: AgentChoice = {
        ...bareOf(choice),
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
      const { politeSignal: signal, politeTo: to } = adapter.value;
      const spec: ProgramSpec = {
        ...{ nonce: newNonce(), kind: 'probe', argv: launch.argv, cwd: place.workspace, confinement },
        ...{ graceMs: 2000, timeoutMs: turnMs, polite: { signal, to } },
        ...(launch.stdin === undefined ? {} : { stdin: launch.stdin }),
      };
      const { seen, output, why } = await runProgram(at('runner'), {
        spec,
        environment,
        runtime,
        signal: request.signal,
      });
      const failure =
        seen.kind === 'ended'
          ? adapter.value.classify({ exit: seen.report, outputTail: output, wall: seen.report.wall })
          : null;
      return {
        agent: choice.name,
        ok: why === '' && failure === null,
        detail: failure ? `${failure.reason}: ${failure.detail}` : why,
      };
    }),
  );
}

/** Without its preset, which leads elsewhere. */
const bareOf = ({
  name,
  adapter,
  prompt,
  environment,
  program,
  model,
  effort,
  permissions,
  tools,
}: AgentChoice): AgentChoice => ({
  ...{ name, adapter, prompt, environment },
  ...(program === undefined ? {} : { program }),
  ...(model === undefined ? {} : { model }),
  ...(effort === undefined ? {} : { effort }),
  ...(permissions === undefined ? {} : { permissions }),
  ...(tools === undefined ? {} : { tools }),
});
