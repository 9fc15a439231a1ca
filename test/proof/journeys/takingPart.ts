import { contract, files } from '../task.ts';
import type { Journey } from './journey.ts';

/** An agent that submits once and then waits for a file that a person makes: time to look, without a clock. */
const patient = (idea: string, change: string): string => `import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, watch, writeFileSync } from 'node:fs';

const hma = (...words) => execFileSync('hma', words, { encoding: 'utf8' });

if (process.env.HMA_ROLE === 'review') {
  const { candidates } = JSON.parse(hma('archive', '--json'));
  console.log(hma('nominate', candidates.toSorted((a, b) => a.score - b.score)[0].id, '--reason', 'lowest error'));
} else {
  const { fit, read } = await import(\`\${process.cwd()}/fit.mjs\`);
  const model = JSON.parse(readFileSync('model.json', 'utf8'));
  ${change}
  writeFileSync('model.json', JSON.stringify(fit(model, read('train.csv'))));
  console.log(hma('submit', '--note', '${idea}', '--wait', '60'));
  console.log('waiting for the file "go on"');
  const watcher = watch('.', () => existsSync('go on') && watcher.close());
}
`;

/** What a person can do while a run lives. */
export const takingPart: Journey = {
  name: '2-taking-part',
  title: 'Taking part: pause, resume, hand over, change budgets, begin the review, stop',
  async play(desk) {
    desk.say('The task of the first night, with agents that submit once and then wait for us.');
    for (const [path, text] of Object.entries(files)) desk.put(path, text);
    await desk.run('node points.mjs');
    desk.write('raiser.mjs', patient('a higher degree', 'model.degree += 2;'));
    desk.put('looser.mjs', patient('less regularization', 'model.lambda /= 10;'));
    desk.put('hma.yaml', contract(desk.workspace, 'budgets: { total: 10m, review: 1m }\n'));
    await desk.run('hma run --detach');
    await desk.until('a first candidate', (state) => state.archive.length === 1);
    desk.say('One candidate is there, the first session goes on.');
    await desk.run('hma status');
    await desk.run('hma pause');
    await desk.until('the pause', (state) => state.pause !== null && !state.clock.running);
    await desk.run('hma status');
    desk.say('Paused: the clock stands and the session’s processes are frozen.');
    desk.expect(
      'its processes are stopped',
      desk.processes().some(({ command }) => command.includes('raiser.mjs')),
    );
    await desk.run('hma resume');
    await desk.until('it goes on', (state) => state.pause === null && state.clock.running);
    desk.say('More time, and a limit of another kind.');
    await desk.run('hma budget --add 1h --experiments 20');
    desk.expect(
      'the budget is 70 min',
      desk.state().budgets.totalMs === 70 * 60_000 && desk.state().budgets.experiments === 20,
    );
    await desk.run('hma budget --total 1s', 2);
    desk.say('The session has done its part: hand over.');
    await desk.run('hma handoff');
    await desk.until('the other agent’s candidate', (state) => state.archive.length === 2);
    desk.expect(
      'the other agent works now',
      desk
        .state()
        .options.map(({ agent }) => agent)
        .join('') === 'AB' && desk.state().options[0]?.closure === 'handoff',
    );
    await desk.run('hma candidates');
    desk.say('Enough: the final review now, with what there is.');
    await desk.run('hma review');
    await desk.run('hma watch --tail 9');
    desk.expect(
      'it was reviewed',
      desk.state().phase === 'finished' && desk.state().review?.outcome !== null && desk.state().options.length === 2,
    );
    desk.say('Another run of the same task, and a stop: no review, candidates are kept.');
    await desk.run('hma run --detach');
    await desk.until(
      'a candidate of the second run',
      (state) => state.phase === 'exploring' && state.archive.length === 1,
    );
    await desk.run('hma stop', 64);
    await desk.run('hma stop --yes');
    await desk.until('the end', (state) => state.phase === 'finished');
    await desk.run('hma list');
    await desk.run('hma pause', 2);
    desk.expect(
      'the stop is on record',
      desk.state().options[0]?.closure === 'stopped' && desk.state().archive.length === 1,
    );
  },
};
