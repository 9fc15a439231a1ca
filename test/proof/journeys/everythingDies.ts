import { signalProcess } from '../../../src/machines/processes.ts';
import { contract, files, looser, raiser } from '../task.ts';
import type { Journey } from './journey.ts';

/** As the power cut would have it: every process of the run is killed in the middle of a session. */
export const everythingDies: Journey = {
  name: '3-everything-dies',
  title: 'Everything dies in the middle of a session; nothing is lost',
  async play(desk) {
    desk.say(
      'The task of the first night. The first agent here computes for ever after its second candidate: nothing but an end from outside ends it.',
    );
    for (const [path, text] of Object.entries(files)) desk.put(path, text);
    await desk.run('node points.mjs');
    desk.put(
      'raiser.mjs',
      raiser
        .replace('round < 2', "round < (process.env.HMA_ATTEMPT === '1' && process.env.HMA_OPTION === '1' ? 1 : 2)")
        .replace(
          /\n\}\n$/,
          "\n  if (process.env.HMA_ATTEMPT === '1' && process.env.HMA_OPTION === '1') for (;;) fit(model, read('train.csv'));\n}\n",
        ),
    );
    desk.put('looser.mjs', looser);
    desk.put(
      'hma.yaml',
      contract(
        desk.workspace,
        'policy: { cap: 3 }\nbudgets: { total: 10m, review: 1m, experiments: 5 }\nfailures: { wait: 0s }\n',
      ),
    );
    await desk.run('hma run --detach');
    const before = await desk.until('a first candidate and its receipt', (state) => state.archive.length === 1);
    const score = before.archive[0]?.score;
    await desk.run('hma candidates');
    const all = desk.processes();
    desk.expect('keeper, controller, runner and agent live', all.length >= 4);
    desk.say('Now `kill -9` of everything, by process id: keeper, controller, runner and agent.');
    for (const one of all) signalProcess(one, 'SIGKILL');
    while (desk.processes().length > 0) for (const one of desk.processes()) signalProcess(one, 'SIGKILL');
    await desk.run('hma status');
    desk.say('The ledger is whole, and the candidate is in it. Nobody looks after the run until somebody asks for it.');
    await desk.run('hma resume');
    await desk.run('hma watch --tail 100');
    const after = desk.state();
    desk.expect('the run went on to its end', after.phase === 'finished' && after.archive.length === 5);
    desk.expect(
      'the candidate from before is the same',
      after.archive[0]?.id === 'e1' && after.archive[0]?.score === score,
    );
    desk.expect(
      'the session went on as the same option, in another attempt',
      after.options[0]?.attempts.length === 2 && after.options[0].number === 1,
    );
    desk.expect(
      'ids are without gap and without double',
      after.archive.map(({ id }) => id).join() === 'e1,e2,e3,e4,e5',
    );
    desk.expect(
      'options alternate',
      after.options.every(({ agent }, index) => agent !== after.options[index - 1]?.agent),
    );
    await desk.run('hma candidates');
  },
};
