import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

import type { Option } from '../../../src/options/model.ts';
import type { RunState } from '../../../src/run/model.ts';
import { nominates, submitCommand, type AgentsRun, type HarnessName } from '../../rig/agentsRun.ts';
import type { ModelRequest, Script, Step } from '../../rig/modelServer.ts';
import { processesOf } from '../../rig/run.ts';

/** The pairs of the paper and of issue 4: who begins, who follows. */
export const pairs: readonly (readonly [HarnessName, HarnessName])[] = [
  ['claude-code', 'codex'],
  ['codex', 'opencode'],
  ['gemini', 'qwen'],
  ['kimi', 'claude-code'],
];

/** A model that goes on thinking: a session that is ended meanwhile gets no answer, so what was sent is what was recorded. */
export const thinking: Step = { fault: { kind: 'hang', when: 'before' } };

/** Candidates one after the other, and then a thought that only a handoff ends. */
export const submitsThenThinks = (count: number): readonly Step[] => [
  ...Array.from({ length: count }, (_, index) => ({ say: `Candidate ${index + 1}.`, shell: submitCommand(index + 1) })),
  thinking,
];

/** A sleep that no session waits for; it is in a session of its own before its command ends, at which some harnesses end the command's group. */
const leaveJob =
  "nohup setsid sh -c 'touch left.txt; exec sleep 86411' >/dev/null 2>&1 & " +
  'while [ ! -e left.txt ]; do sleep 0.05; done; rm left.txt; echo started';

/** An option that leaves a job behind, submits in the middle of a compound command, and is ended at its second candidate. */
export const untidy = (nominated: string): Script => ({
  steps: [
    { think: 'I look around.', say: 'A job in the background.', shell: leaveJob },
    { say: 'The first.', shell: submitCommand(1) },
    {
      say: 'The second, in the middle of other things.',
      shell: `echo before >> notes.txt; ${submitCommand(2)}; echo after >> notes.txt`,
    },
    thinking,
  ],
  review: nominates(nominated),
});

/** An option that ends by itself after one candidate. */
export const brief = (nominated: string): Script => ({
  steps: [{ say: 'One is enough.', shell: submitCommand(1) }, { text: 'I am done.' }],
  review: nominates(nominated),
});

/** What the compound commands wrote beside their submissions. */
export const notesOf = (run: AgentsRun): string => readFileSync(join(run.folders.workspace, 'notes.txt'), 'utf8');

/** What a test looks at in an option. */
export const told = ({ options }: RunState) =>
  options.map(({ agent, closure, accepted, endedItself }) => ({ agent, closure, accepted, endedItself }));

/** Whatever of a run lives beside keeper and controller. */
export const livingOf = (run: AgentsRun): string[] =>
  processesOf(run.folders.root)
    .map(({ command }) => command)
    .filter((command) => command !== '' && !/(?:keeper|controller)\.js/.test(command));

/**
 * The ledger holds exactly what the server sent, agent by agent, but for `untold` of A, which its harness could not tell. Kimi alone
 * tells no count of reasoning.
 */
export function expectSumsEqual(run: AgentsRun, untold?: ModelRequest): void {
  for (const slot of ['A', 'B'] as const) {
    const sent = run.server.sent(slot, 'begun', untold);
    const silent = run.client.state?.terms.agents[slot].adapter === 'kimi';
    expect(run.recorded(slot), `agent ${slot}`).toEqual({ ...sent, ...(silent && { reasoning: 0 }) });
  }
}

/** A job was left behind, ended and told, and nothing else: the harness itself is no leftover (a shell around the job may be one). */
export function expectLeft(option: Option | undefined, job: string): void {
  const commands = option?.ended.map(({ command }) => command) ?? [];
  expect(commands).toContain(job);
  expect(commands.filter((command) => !command.includes(job))).toEqual([]);
}

/** Each agent's requests carried its own key, and no other. */
export function expectOwnKeys(run: AgentsRun, keyOf: (slot: 'A' | 'B') => string): void {
  for (const slot of ['A', 'B'] as const) {
    const keys = new Set(run.server.requests.filter(({ script }) => script === slot).map(({ key }) => key));
    expect([...keys], `agent ${slot}`).toEqual([keyOf(slot)]);
  }
}
