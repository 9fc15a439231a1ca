import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { exitCodes } from '../../src/cli/exitCodes.ts';
import { readDockerfile } from '../../src/client/dockerfile.ts';
import { partsOf, toldFiles } from '../../src/client/harborFiles.ts';
import { servesAbsolutePaths } from '../../src/client/importHarbor.ts';
import { write } from '../evaluators/folders.ts';
import { tiersHere } from '../machines/machineRoom.ts';
import { ImportRoom } from './importRig.ts';

const solution = 'SECRET-SOLUTION';

/** A task in AutoLab's manner: fewer characters are better, the word must be right; the reward is a share, the measure is `metric`. */
const golf = {
  'task.toml': `version = "1.0"
[agent]
timeout_sec = 7200
[verifier]
timeout_sec = 90
env = { LIMIT = "100", TOKEN = "\${API_TOKEN}" }
[environment]
allow_internet = false
[optimization]
metric = "characters"
direction = "lower"
[optimization.baseline]
score = 40
[optimization.reference]
score = 12
`,
  'instruction.md':
    '# Golf\n\nRewrite `/app/word.sh` to print `hello` with as few characters as possible.\nDo not modify `lib/`.\n',
  'environment/Dockerfile': `FROM debian:12
RUN apt-get update && \\
    apt-get install -y bash
WORKDIR /app
COPY word.sh ./
COPY lib/ /app/lib/
COPY extra.txt /orig/extra.txt
`,
  'environment/word.sh': 'echo "$(cat /app/lib/prefix)llo"\n',
  'environment/lib/prefix': 'he',
  'environment/extra.txt': 'x',
  'tests/wanted': 'hello',
  'tests/test.sh': `#!/bin/bash
set -u
[ -n "\${HMA_RESULT:-}" ] && { echo "told where the verdict goes"; exit 9; }
got=$(timeout 10 bash /app/word.sh)
size=$(wc -c < /app/word.sh)
if [ "$got" = "$(cat /tests/wanted)" ] && [ "$size" -lt "$LIMIT" ]; then
  printf '{"reward": 0.5, "correctness": true, "metric": %s}' "$size" > /logs/verifier/reward.json
elif [ "$got" = none ]; then
  echo '{"reward": 0, "metric": null}' > /logs/verifier/reward.json
elif [ "$got" = crash ]; then
  exit 3
else
  printf '{"reward": 0.0, "correctness": false, "metric": %s}' "$size" > /logs/verifier/reward.json
fi
`,
  'solution/solve.sh': `# ${solution}\n`,
};

/** The room with such a task, changed. */
function taskRoom(changes: Readonly<Record<string, string | null>> = {}): { room: ImportRoom; task: string } {
  const room = new ImportRoom();
  const task = room.at('tasks', 'golf');
  write(task, golf);
  for (const [path, text] of Object.entries(changes))
    if (text === null) rmSync(join(task, path), { recursive: true });
    else write(task, { [path]: text });
  return { room, task };
}

describe.runIf(tiersHere.includes('bubblewrap'))('hma init --harbor', () => {
  test('lays a task out with all that task.toml tells; its solution is nowhere, and its tests are where no agent looks', async () => {
    const { room, task } = taskRoom();
    const made = await room.init(['--harbor', task]);
    expect(made).toMatchObject({ exit: 0, err: '' });
    expect(made.out).toMatch(/RUN apt-get update && apt-get install -y bash[^]*TOKEN/);
    expect(room.files()).toEqual(['OBJECTIVE.md', 'hma.yaml', 'lib/prefix', 'word.sh']);
    const beside = `${room.workspace}.hidden`;
    expect(room.files(beside)).toEqual([
      'evaluate.mjs',
      'image/orig/extra.txt',
      'task.json',
      'tests/test.sh',
      'tests/wanted',
    ]);
    for (const folder of [room.workspace, beside])
      for (const file of room.files(folder)) expect(readFileSync(join(folder, file), 'utf8')).not.toContain(solution);
    const { contract, warnings } = await room.contract();
    expect(warnings).toEqual([]);
    expect(contract).toMatchObject({
      name: 'golf',
      candidate: ['word.sh'],
      protected: expect.arrayContaining(['lib/**', 'OBJECTIVE.md']),
      evaluate: {
        command: ['node', join(beside, 'evaluate.mjs')],
        timeoutMs: 90_000,
        hidden: [beside],
        binds: [
          { from: '.', to: '/app' },
          { from: join(beside, 'tests'), to: '/tests' },
          { from: join(beside, 'image/orig'), to: '/orig' },
          { from: null, to: '/logs' },
        ],
      },
      metric: { name: 'characters', direction: 'minimize', baseline: 40, reference: 12 },
      isolation: { tier: 'bubblewrap', network: 'none', hidden: [task] },
      budgets: { totalMs: 7_200_000 },
    });
    expect(contract.objective).toContain('Rewrite `/app/word.sh`');
    expect(contract.objective).toContain('`/app`, it means your working folder');
  });

  test('really runs the tests on a candidate at /app, with /tests and /logs in place, and reads the measure', async () => {
    const { room, task } = taskRoom();
    await room.init(['--harbor', task]);
    const judged = async (text: string) => (await room.evaluate({ 'word.sh': text })).verdict;
    expect(await judged('echo hello\n')).toEqual({ kind: 'scored', score: 11 });
    expect(await judged('echo "$(cat lib/prefix)llo"\n')).toEqual({ kind: 'scored', score: 28 });
    expect(await judged('echo bye\n')).toMatchObject({ kind: 'incorrect', score: 9 });
    expect(await judged('echo none\n')).toMatchObject({ kind: 'incorrect' });
    expect(await judged('echo crash\n')).toMatchObject({
      kind: 'no_result',
      detail: expect.stringContaining('left no reward in /logs/verifier (exit code 3)'),
    });
  });

  test('candidate code in an evaluation can read the tests, but neither the solution nor change the tests', async () => {
    const { room, task } = taskRoom();
    await room.init(['--harbor', task]);
    // shown by a folder around it, were it not hidden: a room's own place is private to evaluations anyway
    const file = join(room.workspace, 'hma.yaml');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('isolation:\n', `isolation:\n  readable: ["${room.at('tasks')}"]\n`));
    expect((await room.contract()).contract.isolation.readable).toEqual([room.at('tasks')]);
    const nosy = `cat ${task}/solution/solve.sh /root/.ssh/* >&2; ls ${task} >&2; echo x > /tests/wanted; echo hello\n`;
    const { verdict, output } = await room.evaluate({ 'word.sh': nosy });
    expect(output).not.toContain(solution);
    expect(output).toMatch(/Read-only file system/);
    // too long for LIMIT
    expect(verdict).toMatchObject({ kind: 'incorrect' });
    expect(readFileSync(join(`${room.workspace}.hidden`, 'tests/wanted'), 'utf8')).toBe('hello');
  });

  test('without a measure or direction the score is the reward, from reward.txt too; then baseline and reference are not taken', async () => {
    const { room, task } = taskRoom({
      'task.toml': '[optimization]\nmetric = "seconds"\n[optimization.baseline]\nscore = 3\n',
      'tests/test.sh': 'grep -q hello word.sh && echo 0.75 > /logs/verifier/reward.txt\n',
    });
    const made = await room.init(['--harbor', task, '--total', '3h']);
    expect(made.out).toContain('baseline and reference of task.toml are in another unit');
    const { contract } = await room.contract();
    expect(contract.metric).toEqual({ name: 'reward', direction: 'maximize', thresholds: [], noise: 0 });
    expect(contract.budgets.totalMs).toBe(10_800_000);
    expect((await room.evaluate({ 'word.sh': 'echo hello' })).verdict).toEqual({ kind: 'scored', score: 0.75 });
  });

  test('where the instruction names no file to edit, all is the candidate but what is said to be left alone', async () => {
    const { room, task } = taskRoom({ 'instruction.md': 'Be short.\n`lib/prefix` is read-only.\n' });
    await room.init(['--harbor', task]);
    const { contract } = await room.contract();
    expect([contract.candidate, contract.protected]).toEqual([['word.sh'], expect.arrayContaining(['lib/**'])]);
  });

  test('without a Dockerfile the environment is the working folder', async () => {
    const { room, task } = taskRoom({ 'environment/Dockerfile': null });
    await room.init(['--harbor', task]);
    expect(room.files()).toEqual(['OBJECTIVE.md', 'extra.txt', 'hma.yaml', 'lib/prefix', 'word.sh']);
  });

  test('refuses what is there already, and writes nothing', async () => {
    const { room, task } = taskRoom();
    writeFileSync(join(room.workspace, 'word.sh'), 'mine');
    const refused = await room.init(['--harbor', task, '--json']);
    expect(refused.exit).toBe(exitCodes.refused);
    expect(JSON.parse(refused.out)).toMatchObject({
      error: { code: 'exists', what: expect.stringContaining('word.sh') },
    });
    expect(room.files()).toEqual(['word.sh']);
    expect(readFileSync(join(room.workspace, 'word.sh'), 'utf8')).toBe('mine');
  });
});

describe('a malformed Harbor task is refused with what, where and what to do', () => {
  const compose = { 'environment/docker-compose.yaml': 'services: { db: { image: postgres } }\n' };
  test.each([
    ['without task.toml', { 'task.toml': null }, /golf\/task\.toml is missing\n +A Harbor task has/],
    ['without an instruction', { 'instruction.md': null }, /golf\/instruction\.md is missing/],
    ['with an empty instruction', { 'instruction.md': ' \n' }, /instruction\.md is empty\n +Write the task/],
    ['without tests', { tests: null }, /golf\/tests\/test\.sh is missing/],
    ['without an environment', { environment: null }, /golf\/environment is missing/],
    [
      'that is no TOML',
      { 'task.toml': 'version = "1.0"\n[agent\n' },
      /task\.toml:2:\d+: .*\n +Correct it; it must be TOML/,
    ],
    [
      'with a wrong value',
      { 'task.toml': '[verifier]\ntimeout_sec = "long"\n' },
      /task\.toml: verifier\.timeout_sec: .*number/,
    ],
    ['with steps', { 'task.toml': '[[steps]]\nname = "a"\n' }, /golf: the task has 1 steps\n +Run it with Harbor/],
    ['with services', compose, /docker-compose\.yaml starts services/],
    ['with a verifier apart', { 'task.toml': '[verifier]\nenvironment_mode = "separate"\n' }, /a machine of its own/],
    ['in a system folder', { 'environment/Dockerfile': 'FROM x\nWORKDIR /usr/src\nCOPY . .\n' }, /lives in \/usr\/src/],
  ] as const)('%s', async (_, changes, words) => {
    const { room, task } = taskRoom(changes);
    const refused = await room.init(['--harbor', task]);
    expect(refused).toMatchObject({ exit: exitCodes.refused, out: '' });
    expect(refused.err).toMatch(words);
    expect(room.files()).toEqual([]);
  });

  test('with a link to its solution, in the workspace itself, or that is no folder', async () => {
    const { room, task } = taskRoom();
    symlinkSync('../solution/solve.sh', join(task, 'environment', 'hint.sh'));
    expect((await room.init(['--harbor', task])).err).toMatch(/environment\/hint\.sh is a link that leads elsewhere/);
    expect((await room.init(['--harbor', room.at('nothing')])).err).toMatch(/nothing is no folder/);
    expect((await room.init(['--harbor', room.at('.')])).err).toMatch(/lie in one another/);
    expect((await room.init(['--harbor', task, '--template', 'kernel'])).exit).toBe(exitCodes.usage);
  });

  test('where bubblewrap does not work nobody can serve /app: that is said, with the engine that is there', () => {
    const probe = { tier: 'bubblewrap', available: false, why: 'bwrap not found' } as const;
    expect(servesAbsolutePaths({ ...probe, available: true }, null)).toMatchObject({ ok: true });
    expect(servesAbsolutePaths(probe, null)).toMatchObject({
      ok: false,
      refusal: {
        what: expect.stringContaining('bwrap not found'),
        fix: expect.stringContaining('no container engine'),
      },
    });
    expect(servesAbsolutePaths(probe, 'podman')).toMatchObject({
      ok: false,
      refusal: { fix: expect.stringContaining('inside a container of podman') },
    });
  });
});

test('what an instruction tells of its files: sentence by sentence, whole folders too, and what is not there yet', () => {
  const files = new Map(['solve.py', 'main.py', 'data/a', 'src/x.c', 'ref.py'].map((path) => [path, path]));
  const told = (instruction: string) => toldFiles(instruction, { app: '/app', files });
  expect(told('Edit `/app/solve.py` only. Do not modify `main.py`.\nThe implementation in `ref.py` is slow.')).toEqual({
    edited: ['solve.py'],
    kept: ['main.py'],
  });
  expect(told('| `/app/src/` | **Edit** |\n| `/app/data/` | Read-only |')).toEqual({ edited: ['src'], kept: ['data'] });
  expect(told('Write `/app/out.txt`; `unknown.py` and /etc/passwd do not change it')).toEqual({
    edited: ['out.txt'],
    kept: [],
  });
  expect(partsOf({ files }, told('Change /app/src/ and create /app/out.txt'))).toEqual({
    candidate: ['src/**', 'out.txt'],
    protected: ['data/**', 'main.py', 'ref.py', 'solve.py'],
  });
});

test('of a Dockerfile the last stage is read: its folder, its copies in both forms, and what else it does', () => {
  expect(
    readDockerfile(`FROM golang AS build
COPY x /x
FROM debian
# COPY no /no
WORKDIR /work
WORKDIR app
COPY --chown=1000 a.c b.c ./
COPY ["with space.txt", "/data/"]
COPY --from=build /x /y
ADD https://example.org/z /z
RUN make \\
  all
`),
  ).toEqual({
    workdir: '/work/app',
    copies: [
      { from: ['a.c', 'b.c'], to: '/work/app/' },
      { from: ['with space.txt'], to: '/data/' },
    ],
    kept: [],
    steps: ['COPY --from=build /x /y', 'ADD https://example.org/z /z', 'RUN make all'],
  });
});
