import { contract, files, looser, raiser } from '../task.ts';
import type { Journey } from './journey.ts';

/** From an empty folder to a final candidate of one's own choice. */
export const firstNight: Journey = {
  name: '1-first-night',
  title: 'A first night: a task of your own, from an empty folder to the final choice',
  async play(desk) {
    desk.say(
      'An empty folder. The task: fit a curve to 40 noisy points. A few small files make the points, the fit and the evaluator.',
    );
    for (const [path, text] of Object.entries(files)) desk.write(path, text);
    await desk.run('node points.mjs');
    desk.say(
      'Two agents. Any program that works in a folder and calls `hma` can be one; these two are small scripts. One raises the degree of the best model so far:',
    );
    desk.write('raiser.mjs', raiser);
    desk.say('The other loosens the regularization; it differs in its idea only.');
    desk.write('looser.mjs', looser);
    desk.say(
      'The contract. Everything that is not said has a default. The agents stand there with their whole path, since the final review happens in a folder of its own.',
    );
    desk.write(
      'hma.yaml',
      contract(desk.workspace, 'policy: { cap: 2 }\nbudgets: { total: 10m, review: 1m, experiments: 8 }\n'),
    );
    desk.say('Start it in the background, and look at it.');
    await desk.run('hma run --detach');
    await desk.run('hma watch --tail 100');
    desk.expect(
      'the run is over, with 8 candidates in 4 options',
      desk.state().phase === 'finished' && desk.state().archive.length === 8 && desk.state().options.length === 4,
    );
    desk.expect(
      'the agents alternate',
      desk
        .state()
        .options.map(({ agent }) => agent)
        .join('') === 'ABAB',
    );
    desk.expect(
      'the reviewer chose',
      desk.state().review?.outcome === 'chosen' || desk.state().review?.outcome === 'endorsed',
    );
    desk.say('The next morning.');
    await desk.run('hma status');
    await desk.run('hma candidates --sort score');
    await desk.run('hma log --session 2');
    desk.say('The final choice is yours. Nothing is overwritten, and it can be taken back.');
    await desk.run('hma select e5 --reason "simpler, and nearly as good"');
    desk.expect(
      'a person selected e5',
      desk.state().selections.at(-1)?.candidate === 'e5' && desk.state().selections.at(-1)?.by === 'person',
    );
    await desk.run('hma select --clear --reason "no, the review was right"');
    await desk.run('hma list');
    desk.expect('the selection is the reviewer’s again', desk.state().selections.at(-1)?.candidate === null);
  },
};
