import { contract, files } from '../task.ts';
import type { Journey } from './journey.ts';

/** An agent that types what an agent can, and prints what it got. */
const typist = (
  commands: readonly (readonly string[] | string)[],
): string => `import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** Runs a command as an agent's shell would, and prints it with its exit code. */
const type = (...words) => {
  const { status, stdout, stderr } = spawnSync('hma', words, { encoding: 'utf8' });
  console.log(\`$ hma \${words.map((word) => (word.includes(' ') ? JSON.stringify(word) : word)).join(' ')}\\n\${stdout}\${stderr}→ exit code \${status}\\n\`);
};
const { fit, read } = process.env.HMA_ROLE === 'review' ? {} : await import(\`\${process.cwd()}/fit.mjs\`);
const model = (degree) => writeFileSync('model.json', JSON.stringify(fit({ degree, lambda: 0.01 }, read('train.csv'))));
${commands.map((words) => (typeof words === 'string' ? words : `type(${words.map((word) => JSON.stringify(word)).join(', ')});`)).join('\n')}
`;

const first = typist([
  ['status'],
  ['archive'],
  ['validate'],
  'model(3);',
  ['submit', '--note', 'a cubic', '--score', '0.25', '--wait', '60'],
  ['submit', '--wait', '60'],
  ['result', 'e1'],
  ['result', 'e99'],
  "writeFileSync('model.json', '{}');",
  ['validate'],
  ['submit', '--wait', '60', '--json'],
  ['submit', '--score', 'good'],
  ['sumbit'],
  ['nominate', 'e1', '--reason', 'too early'],
]);

const second = typist([
  ['archive'],
  ['archive', 'get', 'e1'],
  ['archive', 'get', 'e1', 'model.json', '--out', 'peer.json'],
  'const { degree } = JSON.parse(readFileSync("peer.json", "utf8"));',
  'model(degree + 2);',
  ['submit', '--note', 'two degrees more than my peer', '--wait', '60'],
  'model(degree + 4);',
  ['submit', '--note', 'beyond the budget', '--wait', '60'],
]);

const reviewing = typist([
  ['status'],
  ['archive', 'get', 'e3', 'model.json'],
  ['submit'],
  ['nominate', 'e7', '--reason', 'a slip'],
  ['nominate', 'e3', '--reason', 'lowest error, and still a small model'],
]);

/** What an agent can type, and what it gets: words and exit codes. */
export const insideASession: Journey = {
  name: '6-inside-a-session',
  title: 'Inside a session: what an agent can type, what it is told, exit codes',
  async play(desk) {
    for (const [path, text] of Object.entries(files)) desk.put(path, text);
    desk.put(
      'validate.mjs',
      "import { readFileSync } from 'node:fs';\nimport { join } from 'node:path';\nconst { weights } = JSON.parse(readFileSync(join(process.env.HMA_CANDIDATE, 'model.json'), 'utf8'));\nif (!Array.isArray(weights)) {\n  console.log('model.json has no list \"weights\"');\n  process.exit(1);\n}\n",
    );
    await desk.run('node points.mjs');
    desk.say(
      'The task of the first night, with a check of the form (`validate`) and two agents that type what an agent can, whatever comes of it.',
    );
    desk.put('looser.mjs', second);
    desk.put(
      'raiser.mjs',
      "if (process.env.HMA_ROLE === 'review') await import('./reviewing.mjs');\nelse await import('./first.mjs');\n",
    );
    desk.put('first.mjs', first);
    desk.put('reviewing.mjs', reviewing);
    desk.write(
      'hma.yaml',
      contract(
        desk.workspace,
        'validate: node validate.mjs\npolicy: { cap: 2 }\nbudgets: { total: 10m, review: 1m, experiments: 2 }\n',
      ),
    );
    await desk.run('hma run --detach');
    await desk.run('hma watch --tail 100');
    desk.say('The first session:');
    const one = await desk.run('hma log --session 1');
    for (const part of ['e1: accepted', 'not_', '→ exit code 0', '→ exit code 2', '→ exit code 4', '→ exit code 64'])
      desk.expect(`the first session shows ${part}`, one.text.includes(part));
    desk.say('The second one, by the other agent:');
    const two = await desk.run('hma log --session 2');
    desk.expect(
      'the second session built on the first',
      two.text.includes('two degrees more') && desk.state().archive.length === 2,
    );
    desk.say('The final review:');
    await desk.run('hma log --session review');
    desk.expect('the last valid nomination stands', desk.state().review?.nomination?.candidate === 'e3');
    desk.say('Outside of a session these commands say where they belong:');
    await desk.run('hma submit', 64);
  },
};
