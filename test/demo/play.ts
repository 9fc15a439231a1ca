import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { layOut } from '../../media/sample/digits/layOut.mjs';
import { judge } from '../../media/sample/digits/workspace/evaluate.mjs';

export type DemoAgent = 'tuner' | 'builder';

export interface PlayedCandidate {
  readonly id: string;
  readonly agent: DemoAgent;
  readonly option: number;
  readonly score: number;
  readonly reported: number;
  readonly note: string;
  readonly grade: number;
}

/** One ended session: `cap` when the fake `hma` ended it, `natural` when the agent did. */
export interface PlayedOption {
  readonly agent: DemoAgent;
  readonly ended: 'cap' | 'natural';
  readonly output: string;
}

export interface Play {
  readonly candidates: readonly PlayedCandidate[];
  readonly options: readonly PlayedOption[];
  readonly nominations: readonly { readonly id: string; readonly reason: string }[];
  readonly review: string;
  readonly milliseconds: number;
}

/**
 * Plays the sample task with the real agents and the real evaluator against a fake `hma`: a smaller engine, one session at a
 * time. `agents` take turns in the given order; one alone is started again and again. Ends at `experiments` accepted ones,
 * or when each agent twice in a row ended without one.
 */
export async function play(given: {
  seed: number;
  agents: readonly [DemoAgent, ...DemoAgent[]];
  experiments: number;
  cap: number;
  review?: boolean;
  blind?: boolean;
}): Promise<Play> {
  const started = performance.now();
  const root = mkdtempSync(join(tmpdir(), 'hma-demo-test-'));
  try {
    const { workspace, hidden, agents } = layOut(join(root, 'workspace'), join(root, 'hidden'), { seed: given.seed });
    const archive = join(root, 'archive');
    mkdirSync(join(root, 'bin'));
    mkdirSync(archive);
    copyFileSync(new URL('fakeHma.mjs', import.meta.url), join(root, 'bin', 'hma'));
    chmodSync(join(root, 'bin', 'hma'), 0o755);
    writeFileSync(join(root, 'bin', 'package.json'), '{"type":"module"}');
    const stateFile = join(archive, 'state.json');
    const read = (): FakeState => JSON.parse(readFileSync(stateFile, 'utf8')) as FakeState;
    const write = (state: FakeState): void => writeFileSync(stateFile, JSON.stringify(state));
    write({
      candidates: [],
      nominations: [],
      received: 0,
      accepted: 0,
      cap: given.cap,
      experiments: given.experiments,
      blind: given.blind ?? false,
      option: 0,
      agent: given.agents[0],
    });

    const session = async (agent: DemoAgent, role: 'explore' | 'review', cwd: string): Promise<PlayedOption> => {
      const { output, signal, code } = await run([join(agents, `${agent}.mjs`)], cwd, {
        PATH: [join(root, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
        HMA_ROLE: role,
        HMA_OPTION: String(read().option),
        HMA_WORKSPACE: workspace,
        HMA_DEMO_SEED: String(given.seed),
        FAKE_HMA: archive,
        FAKE_HMA_LABELS: join(hidden, 'validation.csv'),
      });
      if (signal === null && code !== 0) throw new Error(`${agent} ended with exit code ${code}:\n${output}`);
      return { agent, ended: signal === null ? 'natural' : 'cap', output };
    };

    const options: PlayedOption[] = [];
    let barren = 0;
    while (read().candidates.length < given.experiments && barren < 2 * given.agents.length) {
      const agent = given.agents[options.length % given.agents.length]!;
      write({ ...read(), agent, accepted: 0, option: options.length + 1 });
      options.push(await session(agent, 'explore', workspace));
      barren = read().accepted === 0 ? barren + 1 : 0;
    }
    let review = '';
    const last = read().candidates.at(-1);
    if (given.review && last) {
      const reviewer = last.agent === 'tuner' ? 'builder' : 'tuner';
      write({ ...read(), agent: reviewer });
      mkdirSync(join(root, 'scratch'));
      review = (await session(reviewer, 'review', join(root, 'scratch'))).output;
    }
    const labels = readFileSync(join(hidden, 'test.csv'), 'utf8');
    const graded = read().candidates.map((candidate) => {
      const verdict = judge(readFileSync(join(archive, candidate.id, 'predictions.csv'), 'utf8'), labels);
      if (!('score' in verdict)) throw new Error(verdict.invalid);
      return { ...candidate, grade: verdict.score };
    });
    return {
      candidates: graded,
      options,
      nominations: read().nominations,
      review,
      milliseconds: performance.now() - started,
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

interface FakeState {
  readonly candidates: readonly Omit<PlayedCandidate, 'grade'>[];
  readonly nominations: readonly { readonly id: string; readonly reason: string }[];
  readonly received: number;
  readonly accepted: number;
  readonly cap: number;
  readonly experiments: number;
  readonly blind: boolean;
  readonly option: number;
  readonly agent: DemoAgent;
}

function run(
  words: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<{ output: string; signal: string | null; code: number | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ output, signal, code }));
  });
}
