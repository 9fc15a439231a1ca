import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { loadContract, type LoadRequest } from '../../src/task/load.ts';
import type { ContractMessage } from '../../src/task/messages.ts';

/** Noon of the day on which the tests' runs are started. */
export const wall = Date.UTC(2026, 10, 30, 12);

/** The shortest contract that is accepted in `files`. */
export const smallest = 'objective: Improve it\ncandidate: model.py\nevaluate: [python3, eval.py]\n';

/** A temporary folder that is removed at the end of its scope. */
export interface Workspace extends AsyncDisposable {
  readonly path: string;
  write(file: string, content: string | Uint8Array): Promise<string>;
}

const files: Readonly<Record<string, string | Uint8Array>> = {
  'eval.py': 'print(1)\n',
  'model.py': 'pass\n',
  'data/x.csv': 'a\n',
  'secret/labels.csv': '1\n',
  'secret.yaml': 'feedback: blind\n',
  'task.md': 'Improve it\n',
  'empty.md': ' \n',
  'large.md': 'x'.repeat(300 * 1024),
  'latin.md': Buffer.from('a\n\u00e9\n', 'latin1'),
};

/** A workspace with an evaluator, a model, and files that tests of refusals name. */
export async function openWorkspace(): Promise<Workspace> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'hma-task-')));
  const write = async (file: string, content: string | Uint8Array): Promise<string> => {
    const target = join(path, file);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
    return target;
  };
  for (const [file, content] of Object.entries(files)) await write(file, content);
  return { path, write, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Loads the contract of a workspace as the tests' world is: a fixed time, home and set of adapters. */
export const load = (workspace: string, more: Partial<LoadRequest> = {}) =>
  loadContract({
    workspace,
    given: { wall, home: '/home/ada', adapters: ['claude-code', 'codex', 'command'] },
    ...more,
  });

/** Writes `hma.yaml` and gives the messages of loading it. */
export async function messagesFor(
  workspace: Workspace,
  yaml: string | Uint8Array,
): Promise<{ ok: boolean; messages: readonly ContractMessage[] }> {
  await workspace.write('hma.yaml', yaml);
  const loaded = await load(workspace.path);
  return { ok: loaded.ok, messages: loaded.ok ? loaded.value.warnings : loaded.refusal.messages };
}
