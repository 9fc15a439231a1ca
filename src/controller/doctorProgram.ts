import { mkdirSync } from 'node:fs';

import { outputLength, readOutput } from '../machines/outputLog.ts';
import type { ProgramSpec } from '../machines/port.ts';
import { endRunner, observeRunner, startRunner, watchRunner, type Observation } from '../machines/runnerControl.ts';
import type { Runtime } from './runtime.ts';

/** How a program of the doctor's ended, and the end of what it printed. */
export interface ProgramSeen {
  readonly seen: Observation;
  readonly output: Uint8Array;
  /** Why there is nothing to read from it; empty when it ended by itself. */
  readonly why: string;
}

/** Output that is looked at, bytes. */
const tailBytes = 65_536;
/** How much longer than its own limit a program is waited for, ms. */
const patienceMs = 5000;

/**
 * Starts a program under a runner, as a session is started, and waits for its end or its time limit; an aborted `signal` ends it, its whole
 * tree, at once. `dir` is the runner's folder.
 */
export async function runProgram(
  dir: string,
  given: {
    readonly spec: ProgramSpec;
    readonly environment: Readonly<Record<string, string>>;
    readonly runtime: Runtime;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<ProgramSeen> {
  const { spec, environment, runtime, signal } = given;
  signal?.throwIfAborted();
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const started = await startRunner({ node: runtime.node, runnerJs: runtime.runner, dir, spec, env: environment });
  if (!started.ok) return { seen: observeRunner(dir), output: new Uint8Array(), why: started.refusal.message };
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = setTimeout(resolve, (spec.timeoutMs ?? 0) + patienceMs);
  const watcher = watchRunner(dir, ({ kind }) => {
    if (kind === 'ended' || kind === 'lost') resolve();
  });
  let ending: Promise<unknown> | undefined;
  const end = (): void => {
    const { nonce, confinement, graceMs = 0 } = spec;
    ending = endRunner({ dir, nonce, tier: confinement.tier, graceMs }).finally(resolve);
  };
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  await promise;
  await ending;
  signal?.removeEventListener('abort', end);
  clearTimeout(late);
  watcher[Symbol.dispose]();
  const seen = observeRunner(dir);
  const { bytes } = readOutput(dir, Math.max(0, outputLength(dir) - tailBytes), tailBytes);
  return { seen, output: bytes, why: whyOf(seen) };
}

function whyOf(seen: Observation): string {
  if (seen.kind !== 'ended') return `it is ${seen.kind}`;
  const { cause, code, signal, error } = seen.report;
  if (cause === 'exit' && code === 0) return '';
  return error ?? (cause === 'timeout' ? 'it did not end in time' : `it ended with ${signal ?? `code ${code}`}`);
}
