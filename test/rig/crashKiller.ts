import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { reviveRun } from '../../src/controller/launch.ts';
import type { CrashRun } from './crashRun.ts';
import type { ScriptedTask } from './crashScenario.ts';
import { endAll, processesOf } from './run.ts';

/** Who is killed from outside; `everything` is a power cut, `reboot` one after which the machine has another boot id. */
export const victims = [
  'keeper',
  'controller',
  'runner',
  'evaluator',
  'submit',
  'agent',
  'everything',
  'reboot',
] as const;
export type Victim = (typeof victims)[number];

const commandOf: Readonly<Record<Exclude<Victim, 'everything' | 'reboot'>, RegExp>> = {
  keeper: /\/keeper\.js /,
  controller: /\/controller\.js /,
  runner: /\/runner\.js /,
  evaluator: /^sh evaluate\.sh|^sh .*\/evaluate\.sh/,
  submit: /\/session\.js submit/,
  agent: /\/scripts\/(alpha|beta)\.sh/,
};

/** Asks again when `hma submit` is killed, as an agent does; then ends by itself, unless it is ended at its cap before. */
const steady = (option: string): string =>
  [`slow0.3${option}1`, `slow0.2${option}2`]
    .map((value) => `submit ${value} || submit ${value} || submit ${value}; `)
    .join('') + 'exit 0';
const steadily = (options: readonly number[]): Record<string, string> =>
  Object.fromEntries(
    options.flatMap((option) => [1, 2, 3, 4].map((attempt) => [`${option}.${attempt}`, steady(String(option))])),
  );

/** Options of two evaluations that take a moment each, whichever attempt it is; the review nominates the first candidate. */
export const steadyAlternation: ScriptedTask = {
  A: { ...steadily([1, 3, 5, 7, 9]), review: 'hma nominate e1 --reason steady; exit 0' },
  B: { ...steadily([2, 4, 6, 8, 10]), review: 'hma nominate e1 --reason steady; exit 0' },
  contract: {
    budgets: { total: '40m', review: '10m', experiments: 5 },
  },
  // the runners of a machine that was rebooted must have its clock too
  environment: ['HMA_TEST_CLOCK'],
};

/** Random numbers from a seed, so that a round can be played again. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Processes with a test's folder in their command line: cheaper to look for than all that belong to it. */
function named(root: string): { pid: number; command: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return command.includes(root) ? [{ pid: Number(name), command }] : [];
    } catch {
      return []; // gone meanwhile
    }
  });
}

/** Kills one of a kind as soon as there is one; false when none came within `waitMs`. */
export async function kill(run: CrashRun, victim: Victim, clockFile: string, waitMs = 4000): Promise<boolean> {
  if (victim === 'everything' || victim === 'reboot') {
    await endAll(run.folders.root);
    tear(run.runFolder);
    // the first to come back dies once more, as soon as it has set the torn tail aside
    appendFileSync(join(run.folders.root, 'plan'), 'ledger.tornSetAside@start\n');
    if (victim === 'reboot')
      writeFileSync(
        clockFile,
        JSON.stringify({ boot: `boot-${Math.round(performance.now())}`, mono: -process.uptime() * 1000 }),
      );
    return true;
  }
  const until = performance.now() + waitMs;
  while (performance.now() < until) {
    const there = victim === 'evaluator' ? processesOf(run.folders.root) : named(run.folders.root);
    const found = there.find(({ command }) => commandOf[victim].test(command));
    if (found) {
      try {
        process.kill(found.pid, 'SIGKILL');
        return true;
      } catch {
        // it was faster: the next one
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

/** Half a line at the end of the ledger, as a power cut in the middle of a write leaves it. */
function tear(runFolder: string): void {
  const segments = readdirSync(runFolder).filter((name) => /^ledger-\d+\.jsonl$/.test(name));
  const newest = segments.toSorted((a, b) => Number(/\d+/.exec(a)?.[0]) - Number(/\d+/.exec(b)?.[0])).at(-1);
  if (newest) appendFileSync(join(runFolder, newest), '{"seq":99,"end":99,"v":1,"wa');
}

/** Does what a person or the boot does: takes the run up again whenever neither keeper nor controller lives. Resolves when told to stop. */
export async function nurse(run: CrashRun, env: NodeJS.ProcessEnv, healthy: AbortSignal): Promise<void> {
  while (!healthy.aborted) {
    const living = named(run.folders.root).some(
      ({ command }) => commandOf.keeper.test(command) || commandOf.controller.test(command),
    );
    if (!living && run.client.state?.phase !== 'finished') {
      const revived = await reviveRun({ runFolder: run.runFolder, env });
      // `held` while the last of the dead is still being buried, `failed` when the new keeper was killed too: the next look tries again
      if (!revived.ok && revived.refusal.reason !== 'held' && revived.refusal.reason !== 'failed')
        throw new Error(`not revived: ${JSON.stringify(revived.refusal)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** The ids of all experiments that any session was told to be accepted, and of all that it was told to exist. */
export function toldTo(run: CrashRun): { accepted: Set<string>; known: Set<string> } {
  const [accepted, known] = [new Set<string>(), new Set<string>()];
  const sessions = join(run.runFolder, 'sessions');
  for (const name of readdirSync(sessions, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('output.log'),
  )) {
    for (const [, id = '', rest = ''] of readFileSync(join(sessions, name), 'utf8').matchAll(
      /\{"id":"(e\d+)"([^\n]*)/g,
    )) {
      known.add(id);
      if (rest.includes('"outcome":"accepted"')) accepted.add(id);
    }
  }
  return { accepted, known };
}
