import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Contract } from '../../src/task/model.ts';
import { layOutTask, type TestFolders } from './task.ts';

/*
 * A small task for runs that are killed: agents and evaluator are shell scripts that start in milliseconds, and every kind of event
 * that needs no person and no accident happens once at least, always in the same order.
 */

const evaluator = `read -r word < "$HMA_CANDIDATE/candidate.txt"
case "$word" in
  crash) exit 3 ;;
  slow*) sleep "\${word#slow}"; echo '{"score": 7}' > "$HMA_RESULT" ;;
  invalid) echo '{"invalid": "the plan says so"}' > "$HMA_RESULT" ;;
  *) echo "{\\"score\\": $word}" > "$HMA_RESULT" ;;
esac
`;

const grader = `read -r word < "$HMA_CANDIDATE/candidate.txt"
echo "{\\"score\\": 10$word}" > "$HMA_RESULT"
`;

/** What both agents know how to do; their scripts are made of these words. */
const words = `submit() { echo "$1" > "$HMA_WORKSPACE/candidate.txt"; hma submit --json --wait 100 $2; }
hold() { exec sleep 10000; }
answered() { echo "{\\"type\\":\\"hma.response\\",\\"id\\":\\"$1\\",\\"at\\":1790000000000,\\"model\\":\\"$2\\",\\"uncachedInput\\":$3,\\"output\\":$4}"; }
`;

/** What one agent does, by `<option>.<attempt>` or `review`; shell, one line. */
export type Script = Readonly<Record<string, string>>;

/** A task of shell scripts. */
export interface ScriptedTask {
  readonly A: Script;
  readonly B: Script;
  readonly contract?: Readonly<Record<string, unknown>>;
  /** Variables of the controller's that runners and programs get too; a user's contract may not name those of ours. */
  readonly environment?: readonly string[];
}

/** Everything once: caps, a natural end, a failed attempt, a control run, an invalid one, a duplicate, a check, a refusal, a nomination, grades. */
export const wholeAlternation: ScriptedTask = {
  A: {
    '1.1': 'submit 1 "--score 0.5 --note first"; submit crash; submit 2; hold',
    '3.1': 'submit invalid; submit 4; hold',
  },
  B: {
    '2.1': 'answered r1 m 100 20; answered r2 m 200 30; exit 1',
    '2.2': 'submit 2; hma validate; submit 3; exit 0',
    review: 'hma submit; hma nominate e5 --reason "the plan says so"; exit 0',
  },
  contract: {
    budgets: { total: '40m', review: '10m', experiments: 4 },
    validate: { command: ['sh', 'validate.sh'], timeout: '20s' },
    grade: { command: ['sh', 'grade.sh'], timeout: '20s' },
  },
};

/** Writes a scripted task's workspace and loads its contract. */
export async function layOutScripts(folders: TestFolders, task: ScriptedTask): Promise<Contract> {
  const scripts = join(folders.root, 'scripts');
  mkdirSync(scripts);
  writeFileSync(join(folders.workspace, 'evaluate.sh'), evaluator);
  writeFileSync(join(folders.workspace, 'validate.sh'), 'echo fine\n');
  writeFileSync(join(folders.workspace, 'grade.sh'), grader);
  const agent = (name: string, script: Script) => {
    const file = join(scripts, `${name}.sh`);
    const cases = Object.entries(script).map(([when, what]) => `  ${when}) ${what} ;;`);
    const text = `${words}echo "$HMA_ROLE $HMA_OPTION.$HMA_ATTEMPT"\nwhen=$HMA_OPTION.$HMA_ATTEMPT\n[ "$HMA_ROLE" = review ] && when=review\ncase $when in\n${cases.join('\n')}\nesac\n`;
    writeFileSync(file, text);
    return { name, adapter: 'command', command: ['sh', file] };
  };
  const contract = await layOutTask(folders, {
    A: {},
    B: {},
    contract: {
      evaluate: { command: ['sh', 'evaluate.sh'], timeout: '60s' },
      agents: { A: agent('alpha', task.A), B: agent('beta', task.B) },
      ...task.contract,
    },
  });
  return { ...contract, environment: [...contract.environment, ...(task.environment ?? [])] };
}
