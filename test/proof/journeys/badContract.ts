import { files, looser, raiser } from '../task.ts';
import type { Journey } from './journey.ts';

/** Mistakes in hma.yaml are told all at once, with line and column; nothing is started. */
export const badContract: Journey = {
  name: '4-a-bad-contract',
  title: 'A contract with mistakes, and what is said about them',
  async play(desk) {
    desk.say('In an empty folder:');
    await desk.run('hma run', 4);
    await desk.run('hma status', 3);
    for (const [path, text] of Object.entries({ ...files, 'raiser.mjs': raiser, 'looser.mjs': looser }))
      desk.put(path, text);
    desk.say('A contract with mistakes of many kinds:');
    desk.write(
      'hma.yaml',
      'name: curve\nobjectiv: Fit the points.\ncandidate: [../model.json]\nevaluate: node evaluate.mjs > score.txt\nmetric: { name: error, direction: minimise }\nagents:\n  A: { name: one, adapter: command, command: [node, raiser.mjs] }\n  B: { name: one, adapter: comand, command: [node, looser.mjs] }\nbudgets: { total: 10m, review: 20m, experiments: lots }\n',
    );
    const { text } = await desk.run('hma run', 4);
    for (const part of ['hma.yaml:2:1', 'objective', 'minimize', 'hma.yaml:9:'])
      desk.expect(`it says ${part}`, text.includes(part));
    desk.say('YAML itself can be wrong, too.');
    desk.write('hma.yaml', 'objective: Fit the points.\ncandidate: [model.json\nevaluate: node evaluate.mjs\n');
    await desk.run('hma run', 4);
    desk.expect('no run was made', (await desk.run('hma list')).text.includes('No runs'));
  },
};
