import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { clisPath, nominates } from '../../rig/agentsRun.ts';
import { startModelServer, type Step } from '../../rig/modelServer.ts';
import { endAll } from '../../rig/run.ts';

const repository = join(import.meta.dirname, '../../..');

/** README's second block of "With Claude Code and Codex", line by line. */
function linesOfReadme(): string[] {
  const text = readFileSync(join(repository, 'README.md'), 'utf8');
  const section = /\n## With Claude Code and Codex\n([^]*?)\n## /.exec(text)?.[1] ?? '';
  const block = [...section.matchAll(/```sh\n([^]*?)```/g)][1]?.[1] ?? '';
  return block.trim().split('\n');
}

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hma-readme-')));
});
afterEach(async () => {
  await endAll(root);
  rmSync(root, { recursive: true, force: true });
});

/** Runs a script in bash and gives its output; a failing command ends it. */
function bash(script: string, given: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) {
  const child = spawn('bash', ['-euc', script], { ...given, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
  return new Promise<{ code: number | null; said: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, said })),
  );
}

const submit = (value: number): Step => ({
  shell: `echo $((HMA_OPTION * 10 + ${value})) > solution.txt && hma submit --wait 60`,
});

it('README’s commands, as they stand there, alternate Claude Code and Codex on a folder with an evaluator', async () => {
  const script = { steps: [submit(1), { text: 'Done for now.' }], review: nominates('e2') };
  await using server = await startModelServer({ A: script, B: script });
  const [install, ...commands] = linesOfReadme();
  expect(install).toMatch(/^npm install -g @anthropic-ai\/claude-code@latest @openai\/codex@latest$/);
  expect(commands.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'export ANTHROPIC_API_KEY=your-key',
    'hma init',
    'hma check',
    'hma run',
  ]);

  const [task, bin] = [join(root, 'task'), join(root, 'bin')];
  for (const folder of [task, bin]) mkdirSync(folder);
  symlinkSync(join(repository, 'dist/cli.js'), join(bin, 'hma'));
  writeFileSync(join(task, 'solution.txt'), '0\n');
  writeFileSync(
    join(task, 'evaluate.mjs'),
    "import { readFileSync, writeFileSync } from 'node:fs';\nwriteFileSync(process.env.HMA_RESULT, JSON.stringify({ score: Number(readFileSync('solution.txt', 'utf8')) })); // accuracy\n",
  );
  const env = {
    HOME: root,
    HMA_HOME: join(root, 'state'),
    TERM: 'dumb',
    PATH: [bin, clisPath, dirname(process.execPath), '/usr/local/bin:/usr/bin:/bin'].join(delimiter),
  };
  // the one thing that README's reader has and this test has not: accounts. So the models are the scripted ones, and few experiments do.
  const edit = `sed -i -e '/adapter: claude-code/a\\    baseUrl: ${server.url('A')}' -e '/adapter: codex/a\\    baseUrl: ${server.url('B')}/v1' -e 's/budgets: {/budgets: { experiments: 3,/' hma.yaml`;
  const [keys = '', init = '', ...rest] = commands;
  const { code, said } = await bash([keys, init, edit, ...rest].join('\n'), { cwd: task, env });
  expect(said).toMatch(/candidate +solution\.txt/);
  expect({ code, said }, said).toMatchObject({ code: 0 });
  expect(said).toMatch(
    /option 1 · A claude-code[^]*option 2 · B codex[^]*option 3 · A claude-code[^]*final review · B codex/,
  );
  expect(said).toMatch(/final +e2/);
  expect(server.sent('A').responses).toBeGreaterThanOrEqual(4);
  expect(new Set(server.requests.map(({ key }) => key))).toEqual(new Set(['your-key']));
}, 240_000);
