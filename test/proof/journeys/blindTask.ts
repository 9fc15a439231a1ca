import { join } from 'node:path';

import { contract, evaluate, files } from '../task.ts';
import type { Journey } from './journey.ts';

const blindAgent = (change: string): string => `import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const hma = (...words) => execFileSync('hma', words, { encoding: 'utf8' });
console.log(hma('archive'));
if (process.env.HMA_ROLE === 'review') {
  const { candidates } = JSON.parse(hma('archive', '--json'));
  console.log(hma('nominate', candidates.toSorted((a, b) => a.reported - b.reported)[0].id, '--reason', 'lowest error of its author’s own validation'));
} else {
  const { fit, predict, read } = await import(\`\${process.cwd()}/fit.mjs\`);
  const points = read('train.csv');
  const model = JSON.parse(readFileSync('model.json', 'utf8'));
  for (let round = 0; round < 2; round += 1) {
    ${change}
    // own validation: fit on the first half, measured on the second
    const half = fit(model, points.slice(0, 20));
    const own = Math.sqrt(points.slice(20).reduce((sum, [x, y]) => sum + (predict(half, x) - y) ** 2, 0) / 20);
    writeFileSync('model.json', JSON.stringify(fit(model, points)));
    console.log(hma('submit', '--score', own.toFixed(4), '--wait', '60'));
  }
}
`;

/** Feedback `blind` and a hidden grader: agents learn accepted or rejected, nothing more. */
export const blindTask: Journey = {
  name: '5-a-blind-task',
  title: 'A blind task: agents are told accepted or rejected, and no score',
  async play(desk) {
    desk.say(
      'The task of the first night, but agents get no scores: they report what their own validation gave. A grader with points of its own grades at the end.',
    );
    for (const [path, text] of Object.entries(files)) desk.put(path, text);
    await desk.run('node points.mjs');
    const graders = join(desk.workspace, '..', 'graders');
    desk.put('../graders/check.csv', hiddenPoints());
    desk.put('../graders/fit.mjs', files['fit.mjs']);
    desk.put(
      '../graders/grade.mjs',
      evaluate.replace("read('check.csv')", "read(new URL('check.csv', import.meta.url))"),
    );
    desk.write('raiser.mjs', blindAgent('model.degree += 1;'));
    desk.put('looser.mjs', blindAgent('model.lambda /= 4;'));
    desk.write(
      'hma.yaml',
      contract(
        desk.workspace,
        `feedback: blind\ngrade: { command: [node, ${graders}/grade.mjs], hidden: [${graders}] }\npolicy: { cap: 2 }\nbudgets: { total: 10m, review: 1m, experiments: 4 }\n`,
      ),
    );
    await desk.run('hma run --detach');
    await desk.run('hma watch --tail 100');
    const { archive, terms, review } = desk.state();
    desk.expect(
      'the run is blind and has four candidates',
      terms.feedback === 'blind' && archive.length === 4 && review?.outcome !== 'crashed',
    );
    desk.say('What the agents saw: the second session, and the review.');
    for (const session of ['2', 'review']) {
      const { text } = await desk.run(`hma log --session ${session}`);
      desk.expect(
        `no score in session ${session}`,
        archive.every(({ score }) => !text.includes(String(score))),
      );
    }
    desk.say('What you see:');
    await desk.run('hma candidates');
    desk.say('Grades are hidden until you want to know; that you did is on record, and so is every choice after it.');
    await desk.run('hma reveal');
    await desk.run('hma candidates --sort grade');
    desk.expect(
      'the final candidate is graded',
      archive.some(({ grade }) => grade?.kind === 'graded'),
    );
  },
};

/** The grader's own points: the same curve without noise. */
const hiddenPoints = (): string =>
  Array.from({ length: 101 }, (_, at) => (at - 50) / 50)
    .map((x) => `${x},${Math.sin(4 * x).toFixed(4)}`)
    .join('\n');
