import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { loadContract } from '../../src/task/load.ts';
import type { Contract } from '../../src/task/model.ts';

const here = import.meta.dirname;

/** One scripted agent's plan: steps by option number, `review`, `<option>.<attempt>` or `default` (see agent.mjs). */
export type Plan = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** A task of the tests: a workspace with a real evaluator and two scripted agents. */
export interface TaskWish {
  readonly A: Plan;
  readonly B: Plan;
  /** Keys of hma.yaml that replace the defaults below. */
  readonly contract?: Readonly<Record<string, unknown>>;
  /** candidate.txt at the start; none when null. */
  readonly candidate?: string | null;
}

/** Folders of one test, removed with everything in them. */
export interface TestFolders extends Disposable {
  readonly root: string;
  readonly workspace: string;
  readonly home: string;
}

/** Makes a temporary root with a workspace and a state folder. */
export function testFolders(): TestFolders {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hma-test-')));
  const [workspace, home] = [join(root, 'workspace'), join(root, 'state')];
  mkdirSync(workspace);
  return {
    root,
    workspace,
    home,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Writes a workspace for a wish and loads its contract as a user's would be. */
export async function layOutTask(folders: TestFolders, wish: TaskWish): Promise<Contract> {
  const { root, workspace } = folders;
  const agentFile = join(root, 'agent.mjs');
  cpSync(join(here, 'agent.mjs'), agentFile);
  cpSync(join(here, 'evaluate.mjs'), join(workspace, 'evaluate.mjs'));
  if (wish.candidate !== null) writeFileSync(join(workspace, 'candidate.txt'), wish.candidate ?? '0\n');
  const agent = (name: string, plan: Plan) => ({
    name,
    adapter: 'command',
    command: [process.execPath, agentFile, JSON.stringify(plan)],
  });
  const contract = {
    objective: 'Make the number in candidate.txt large.',
    candidate: ['candidate.txt'],
    evaluate: { command: [process.execPath, 'evaluate.mjs'], timeout: '20s' },
    metric: { name: 'number', direction: 'maximize' },
    agents: { A: agent('alpha', wish.A), B: agent('beta', wish.B) },
    policy: { cap: 2 },
    budgets: { total: '5m', review: '30s' },
    failures: { attempts: 2, wait: '100ms' },
    limits: { diskFloor: '1MB' },
    isolation: 'none',
    ...wish.contract,
  };
  writeFileSync(join(workspace, 'hma.yaml'), JSON.stringify(contract, null, 2));
  const loaded = await loadContract({ workspace, given: { wall: Date.now() } });
  if (!loaded.ok) throw new Error(loaded.refusal.messages.map((m) => `${m.line}: ${m.what} ${m.fix}`).join('\n'));
  return loaded.value.contract;
}
