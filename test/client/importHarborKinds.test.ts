import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { readDockerfile } from '../../src/client/dockerfile.ts';
import { toldFiles } from '../../src/client/harborFiles.ts';
import { write } from '../evaluators/folders.ts';
import { tiersHere } from '../machines/machineRoom.ts';
import { ImportRoom } from './importRig.ts';

/** Kinds of task folders that are met in the collections, each in the smallest form that shows it. */
function kind(files: Readonly<Record<string, string>>): { room: ImportRoom; task: string } {
  const room = new ImportRoom();
  const task = room.at('tasks', 'kind');
  write(task, {
    'task.toml': 'version = "1.0"\n',
    'instruction.md': 'Edit `/app/it`.\n',
    'environment/Dockerfile': 'FROM x\nWORKDIR /app\nCOPY . /app\n',
    'tests/test.sh': 'echo 1 > /logs/verifier/reward.txt\n',
    ...files,
  });
  return { room, task };
}

describe.runIf(tiersHere.includes('bubblewrap'))('kinds of Harbor tasks', () => {
  test('what a Dockerfile keeps elsewhere for its tests is shown to them there: copies and checksums', async () => {
    const { room, task } = kind({
      'environment/Dockerfile': `FROM x
WORKDIR /app
COPY . /app
COPY wanted /golden/
RUN mkdir -p /orig && cp /app/it /orig/it && \\
    sha256sum /app/kept > /orig/kept.sha256
RUN sha256sum /app/kept | cut -d' ' -f1 > /orig/bare && cp -r /app/. /orig/all
RUN make it
`,
      'environment/it': 'first',
      'environment/kept': 'kept\n',
      'environment/wanted': 'second',
      'tests/test.sh': `cd /app && sha256sum -c /orig/kept.sha256 || exit 4
[ "$(cat /orig/bare)" = "$(sha256sum kept | cut -d' ' -f1)" ] && [ "$(cat /orig/all/kept)" = kept ] || exit 5
[ "$(cat /orig/it)" = first ] && [ "$(cat it)" = "$(cat /golden/wanted)" ] && echo 0.5 > /logs/verifier/reward.txt
`,
    });
    const made = await room.init(['--harbor', task]);
    expect(made.out).toContain('this machine must have it:\n  RUN make it\n');
    const beside = `${room.workspace}.hidden`;
    const hash = createHash('sha256').update('kept\n').digest('hex');
    expect(readFileSync(join(beside, 'image/orig/kept.sha256'), 'utf8')).toBe(`${hash}  /app/kept\n`);
    expect((await room.contract()).contract.evaluate.binds).toEqual([
      { from: '.', to: '/app' },
      { from: join(beside, 'tests'), to: '/tests' },
      { from: join(beside, 'image/golden'), to: '/golden' },
      { from: join(beside, 'image/orig'), to: '/orig' },
      { from: null, to: '/logs' },
    ]);
    expect((await room.evaluate({ it: 'second' })).verdict).toEqual({ kind: 'scored', score: 0.5 });
  });

  test('a task that begins with nothing: what its instruction tells to make is the candidate', async () => {
    const { room, task } = kind({
      'environment/Dockerfile': 'FROM x\nWORKDIR /workspace\nRUN mkdir -p /logs/verifier\n',
      'instruction.md': 'Make a file called hello.txt that greets.\n',
      'tests/test.sh': 'cd /workspace && grep -q hello hello.txt && echo 1 > $TEST_DIR/../logs/verifier/reward.txt\n',
    });
    const made = await room.init(['--harbor', task]);
    expect(made.out).toContain('To be made, as the instruction says: hello.txt');
    expect(made.out).not.toContain('this machine must have it');
    const { contract } = await room.contract();
    expect(contract.candidate).toEqual(['hello.txt']);
    expect((await room.evaluate({ 'hello.txt': 'hello' })).verdict).toEqual({ kind: 'scored', score: 1 });
  });

  test('where the instruction names no file the whole folder is the candidate, what is made there too', async () => {
    const { room, task } = kind({
      'instruction.md': 'The program has a fault. Mend it, and build it.\n',
      'environment/a.c': 'x',
      'tests/test.sh': '[ "$(cat a.c made)" = xyes ] && [ "$PWD" = /app ] && echo 1 > /logs/verifier/reward.txt\n',
    });
    await room.init(['--harbor', task]);
    expect(room.files()).toEqual(['OBJECTIVE.md', 'app/a.c', 'hma.yaml']);
    const { contract } = await room.contract();
    expect(contract.candidate).toEqual(['app/**']);
    expect(contract.objective).toContain('`/app`, it means the folder `app` of your working folder');
    expect((await room.evaluate({ 'app/a.c': 'x', 'app/made': 'yes' })).verdict).toEqual({ kind: 'scored', score: 1 });
  });

  test('with no files and no name the whole folder begins empty', async () => {
    const { room, task } = kind({ 'instruction.md': 'Say something clever.\n' });
    await room.init(['--harbor', task]);
    expect(room.files()).toEqual(['OBJECTIVE.md', 'app/.gitkeep', 'hma.yaml']);
    expect((await room.contract()).warnings).toEqual([]);
  });

  test('a compose file that only describes the task’s own container is none with services; its network is taken over', async () => {
    const compose = `services:\n  main:\n    network_mode: "none"\n    deploy: { resources: { reservations: {} } }\n`;
    const { room, task } = kind({ 'environment/it': '1', 'environment/docker-compose.yaml': compose });
    const made = await room.init(['--harbor', task]);
    expect(made.out).toContain('Of environment/docker-compose.yaml only the network was taken over.');
    expect((await room.contract()).contract.isolation.network).toBe('none');
    const services = kind({ 'environment/docker-compose.yaml': `${compose}  db: { image: postgres }\n` });
    expect((await services.room.init(['--harbor', services.task])).err).toMatch(/compose\.yaml starts services: db\n/);
    const broken = kind({ 'environment/docker-compose.yaml': 'services: [\n' });
    expect((await broken.room.init(['--harbor', broken.task])).err).toMatch(/compose\.yaml starts services: .*read/);
  });

  test.each([
    ['[environment]\nnetwork_mode = "no-network"\n', 'none', ''],
    ['[environment]\nnetwork_mode = "no-network"\n[verifier]\nnetwork_mode = "public"\n', 'open', ''],
    ['[verifier]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.org"]\n', 'open', 'allows some hosts only'],
  ] as const)('the network of the tests: %j', async (toml, network, words) => {
    const { room, task } = kind({ 'environment/it': '1', 'task.toml': toml });
    expect((await room.init(['--harbor', task])).out).toContain(words);
    expect((await room.contract()).contract.isolation.network).toBe(network);
  });

  test('tests that install what they need are told, and one that could not start its program gives no score', async () => {
    const { room, task } = kind({
      'environment/it': '1',
      'tests/test.sh': `#!/bin/bash
# pip install nothing
apt-get update
curl -LsSf https://example.org/install.sh | sh
uvx-of-nowhere pytest /tests/test_outputs.py 2>&1
if [ $? -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
`,
      'tests/load.py':
        'open("/models-of-nowhere/a.bin"); open("https://a.org/b/c"); open("/usr/lib/x"); open("/app/x")\n',
    });
    const made = await room.init(['--harbor', task]);
    expect(made.out).toContain('installs or downloads while it runs (apt-get, curl), ');
    expect(made.out).toContain('The tests name what is not here: /models-of-nowhere. ');
    expect((await room.evaluate({ it: '2' })).verdict).toMatchObject({
      kind: 'no_result',
      detail: expect.stringContaining('tests/test.sh found no uvx-of-nowhere: it must be on this machine'),
    });
  });

  test('a program that is missing does not matter where the tests came to a reward all the same', async () => {
    const { room, task } = kind({
      'environment/it': '1',
      'tests/test.sh': 'program-of-nowhere\npython3 -m module_of_nowhere\necho 0.25 > /logs/verifier/reward.txt\n',
    });
    await room.init(['--harbor', task]);
    expect((await room.evaluate({ it: '2' })).verdict).toEqual({ kind: 'scored', score: 0.25 });
  });

  test('the folder of task.toml, and files beside the working folder', async () => {
    const { room, task } = kind({
      'task.toml': '[environment]\nworkdir = "/app/src"\n[environment.env]\nWORD = "yes"\n',
      'environment/Dockerfile': 'FROM x\nCOPY it /app/src/\nCOPY lib /app/lib\n',
      'instruction.md': 'Edit `/app/src/it`.\n',
      'environment/it': '1',
      'environment/lib/b': 'b',
      'tests/test.sh': '[ "$(cat it ../lib/b)" = 2b ] && [ "$WORD" = yes ] && echo 1 > /logs/verifier/reward.txt\n',
    });
    await room.init(['--harbor', task]);
    expect(room.files()).toEqual(['OBJECTIVE.md', 'hma.yaml', 'lib/b', 'src/it']);
    expect((await room.evaluate({ 'src/it': '2' })).verdict).toEqual({ kind: 'scored', score: 1 });
  });

  test('a folder of many tasks, one of the older format, and steps without an instruction say what they are', async () => {
    const { room, task } = kind({});
    expect((await room.init(['--harbor', room.at('tasks')])).err).toContain(`Name one of them: ${task}`);
    write(room.at('old'), { 'task.yaml': 'instruction: x\n' });
    expect((await room.init(['--harbor', room.at('old')])).err).toContain('task.yaml is of Terminal-Bench 1');
    write(room.at('steps'), { 'task.toml': '[[steps]]\nname = "a"\n' });
    expect((await room.init(['--harbor', room.at('steps')])).err).toContain('the task has 1 steps');
    write(room.at('windows'), { 'task.toml': '[environment]\nos = "windows"\n' });
    expect((await room.init(['--harbor', room.at('windows')])).err).toContain('it runs on Windows');
  });
});

test('of a Dockerfile: variables, the stages that the last one is made from, here-documents, a file copied onto a folder', () => {
  const read = readDockerfile(`ARG ROOT=/srv
FROM debian AS base
ENV HOME_OF=\${ROOT}/work NAME="two words"
WORKDIR $HOME_OF
COPY a .
FROM debian AS other
COPY no /no
FROM --platform=linux/amd64 base
COPY b \${ROOT}/work
COPY c \${UNKNOWN}/c
RUN <<EOF
WORKDIR /not
COPY not /not
EOF
COPY d /there
WORKDIR /there
`);
  expect(read).toEqual({
    workdir: '/there',
    copies: [
      { from: ['a'], to: '/srv/work/' },
      { from: ['b'], to: '/srv/work/' },
      { from: ['d'], to: '/there/' },
    ],
    kept: [],
    steps: ['ENV HOME_OF=${ROOT}/work NAME="two words"', 'COPY c ${UNKNOWN}/c', 'RUN <<EOF'],
  });
});

test('an instruction’s words for what is to be made name files; a module or a file that is there is none', () => {
  const told = (instruction: string) => toldFiles(instruction, { app: '/app', files: new Map([['there.py', 1]]) });
  expect(told('Checkpoint output | `/app/out/model.pt`\nThe output of /app/there.py counts').edited).toEqual([
    'out/model.pt',
  ]);
  expect(told('Write `results.json` with `numpy.linalg`. A file named "two.csv". The `three.csv` is large.')).toEqual({
    edited: ['results.json', 'two.csv'],
    kept: [],
  });
});
