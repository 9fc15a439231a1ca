import { delimiter, join } from 'node:path';

import type { Response } from '../../src/agents/port.ts';
import type { RunEvent } from '../../src/run/events.ts';
import type { AgentSlot } from '../../src/task/model.ts';
import { startModelServer, type ModelServer, type Script, type Sent, type Step } from './modelServer.ts';
import { eventsOf, startTestRun, type TestRun } from './run.ts';

const root = join(import.meta.dirname, '../..');

/** Folder with the pinned CLIs' programs (test/agents/clis/install.mjs). */
export const clisPath = join(root, '.agent-clis/node_modules/.bin');

/** PATH on which the CLIs are found, and a Node that is new enough for all of them. */
export const pathWithClis = [
  clisPath,
  join(root, 'node_modules/node/bin'),
  process.env['PATH'] ?? '/usr/bin:/bin',
].join(delimiter);

/** The harnesses that are driven, with what each wants as its endpoint and as the name of a model it takes for real. */
const harnesses = {
  'claude-code': { path: '', model: 'claude-opus-4-5' },
  codex: { path: '/v1', model: 'gpt-5.3-codex' },
  opencode: { path: '/v1', model: 'scripted-opencode' },
  gemini: { path: '', model: 'gemini-2.5-pro' },
  qwen: { path: '/v1', model: 'scripted-qwen' },
  kimi: { path: '/v1', model: 'scripted-kimi' },
} as const;

/** A harness by its adapter's name. */
export type HarnessName = keyof typeof harnesses;

/** All of them. */
export const harnessNames = Object.keys(harnesses) as readonly HarnessName[];

/** One side of a real alternation. */
export interface RealAgent {
  readonly adapter: HarnessName;
  readonly script: Script;
  /** Keys of the agent in hma.yaml that replace the ones here; null takes one away. */
  readonly agent?: Readonly<Record<string, unknown>>;
}

/** What a real alternation is made from. */
export interface AgentsWish {
  readonly A: RealAgent;
  readonly B: RealAgent;
  /** Keys of hma.yaml that replace those of `test/rig/task.ts`. */
  readonly contract?: Readonly<Record<string, unknown>>;
  readonly env?: NodeJS.ProcessEnv;
}

/** A real run: real keeper, controller, runners, evaluators and agents' CLIs; only the models are scripted, by a server here. */
export interface AgentsRun extends TestRun {
  readonly server: ModelServer;
  /** The ledger's responses of an agent, or of both. */
  responses(slot?: AgentSlot): readonly Response[];
  /** Their sums, comparable with `server.sent(slot)`. */
  recorded(slot?: AgentSlot): Sent;
}

/** The key that each agent's requests must carry. */
export const keyOfAgent = (slot: AgentSlot): string => `scripted-key-of-${slot}-0123456789abcdef`;

/** The agent of hma.yaml that drives a harness with the script `slot` of a server. */
export function realAgent(server: ModelServer, slot: AgentSlot, wish: RealAgent): Readonly<Record<string, unknown>> {
  const { path, model } = harnesses[wish.adapter];
  const agent = {
    name: `${wish.adapter}-${slot}`,
    adapter: wish.adapter,
    model,
    baseUrl: `${server.url(slot)}${path}`,
    keyVariable: `SCRIPTED_KEY_${slot}`,
    ...wish.agent,
  };
  return Object.fromEntries(Object.entries(agent).filter(([, value]) => value !== null));
}

/** Starts a real run of two real agents against a model server of its own. */
export async function startAgentsRun(wish: AgentsWish): Promise<AgentsRun> {
  const server = await startModelServer({ A: wish.A.script, B: wish.B.script });
  const run = await started(server, wish);
  const responses = (slot?: AgentSlot): readonly Response[] => responsesIn(run, slot);
  return {
    ...run,
    server,
    responses,
    recorded: (slot) => sumOf(responses(slot)),
    async [Symbol.asyncDispose]() {
      await run[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function started(server: ModelServer, wish: AgentsWish): Promise<TestRun> {
  try {
    return await startTestRun(
      {
        A: {},
        B: {},
        contract: {
          isolation: 'auto',
          budgets: { total: '10m', review: '1m', experiments: 4 },
          ...wish.contract,
          agents: { A: realAgent(server, 'A', wish.A), B: realAgent(server, 'B', wish.B) },
        },
      },
      { PATH: pathWithClis, SCRIPTED_KEY_A: keyOfAgent('A'), SCRIPTED_KEY_B: keyOfAgent('B'), ...wish.env },
    );
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

function responsesIn(run: TestRun, slot: AgentSlot | undefined): readonly Response[] {
  const { state } = run.client;
  return (eventsOf(run.runFolder) as readonly RunEvent[]).flatMap((event) => {
    if (event.type !== 'attempt.responded') return [];
    const { session, responses } = event.data;
    const agent = session.kind === 'review' ? state?.review?.reviewer : state?.options[session.number - 1]?.agent;
    return slot === undefined || agent === slot ? responses : [];
  });
}

function sumOf(responses: readonly Response[]): Sent {
  const sum = (count: (one: Response) => number): number => responses.reduce((total, one) => total + count(one), 0);
  return {
    responses: responses.length,
    uncachedInput: sum((one) => one.uncachedInput),
    cachedInput: sum((one) => one.cachedInput),
    cacheWrite: sum((one) => one.cacheWrite),
    output: sum((one) => one.output),
    reasoning: sum((one) => one.reasoning),
  };
}

/** A shell command that writes a candidate which no other option or call wrote, submits it and prints the receipt. Gemini CLI refuses any `$(…)`. */
export const submitCommand = (value: number): string =>
  `expr $HMA_OPTION '*' 100 + ${value} > candidate.txt && hma submit --wait 60 --json`;

/** Steps of an option that submits so many candidates, and then says that it is done. */
export const submits = (count: number): readonly Step[] => [
  ...Array.from({ length: count }, (_, index) => ({
    say: `Candidate ${index + 1}.`,
    think: 'A larger number is better.',
    shell: submitCommand(index + 1),
  })),
  { text: 'I am done for now.' },
];

/** Steps of a reviewer that nominates. */
export const nominates = (candidate: string): readonly Step[] => [
  { shell: `hma nominate ${candidate} --reason "by the script"` },
  { text: 'I have chosen.' },
];
