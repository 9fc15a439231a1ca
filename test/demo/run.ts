/**
 * `npm run demo`: a real run of the bundled sample, shown live, then checked against what it left on disk.
 *
 *   npm run demo -- [--seed N] [--keep] [--into FOLDER]
 *
 * Exit code 0 only if everything really happened; 1 if something did not, 64 for wrong usage, 130 when it was interrupted.
 */
import { parseArgs } from 'node:util';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { checkDemo } from './checks.ts';
import { closingPage, introduction, sheetOf } from './page.ts';
import { layOutDemo, newDemoFolder, signDemoFolder, type DemoPlace } from './place.ts';
import { endProcessesOn, processesGone } from './processes.ts';
import { startForegroundRun } from './realRun.ts';
import { latestRun, readRecorded } from './recorded.ts';

/** Few enough for a minute, enough for four sessions that build on each other. */
const demonstration = { experiments: 8, cap: 2, options: 4 };

const usage = `npm run demo -- [--seed N] [--keep] [--into FOLDER] [--sabotage evaluator]

  --seed N       whole number, default 1; another one gives other models, scores and authors
  --keep         the next demonstration does not remove this one's folder
  --into FOLDER  an empty folder for it, default a new one below the system's temporary folder; never removed
  --sabotage evaluator
                 breaks the evaluator first, to see that a demonstration which did not happen is told as that
`;

interface Wish {
  readonly seed: number;
  readonly keep: boolean;
  readonly into: string | undefined;
  readonly sabotage: boolean;
}

/** The words after `npm run demo --`; a text when they are wrong. */
function readWish(words: readonly string[]): Wish | string {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        seed: { type: 'string', default: '1' },
        keep: { type: 'boolean', default: false },
        into: { type: 'string' },
        sabotage: { type: 'string' },
      },
    });
    if (!/^\d{1,6}$/.test(values.seed)) return `--seed takes a whole number, not ${JSON.stringify(values.seed)}`;
    if (values.sabotage !== undefined && values.sabotage !== 'evaluator')
      return `only the evaluator can be sabotaged, not ${JSON.stringify(values.sabotage)}`;
    return { seed: Number(values.seed), keep: values.keep, into: values.into, sabotage: values.sabotage !== undefined };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const say = (lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`);

async function main(words: readonly string[]): Promise<number> {
  if (words.includes('--help') || words.includes('-h')) return (say([usage]), 0);
  const wish = readWish(words);
  if (typeof wish === 'string') {
    process.stderr.write(`demo: ${wish}\n\n${usage}`);
    return 64;
  }
  let place: DemoPlace;
  try {
    place = layOutDemo(wish.into ?? newDemoFolder(wish.keep), { seed: wish.seed, ...demonstration });
  } catch (error) {
    process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
  if (wish.into !== undefined) signDemoFolder(place.root, true);
  if (wish.sabotage)
    writeFileSync(join(place.workspace, 'evaluate.mjs'), 'throw new Error("sabotaged, as it was asked for");\n');
  return play(place, wish);
}

async function play(place: DemoPlace, wish: Wish): Promise<number> {
  const sheet = sheetOf(process.stdout);
  process.stdout.on('error', () => undefined); // a reader that has gone; the run is ended all the same
  say(introduction(place, { seed: wish.seed, experiments: demonstration.experiments }, sheet));
  const started = performance.now();
  const run = startForegroundRun(place, ['ignore', 'inherit', 'inherit']);
  let interrupted = false;
  const interrupt = (): void => {
    if (!interrupted) say(['', 'Ending the demonstration, with everything it started …']);
    interrupted = true;
    run.stop('interrupted');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  const { exit, stopped } = await run.end;
  if (exit !== 0 || stopped !== null) await endProcessesOn(place);
  const left = await processesGone(place);
  if (interrupted) {
    say([
      '',
      left.length === 0
        ? `Nothing is left running. What there is lies in ${place.root}`
        : `Still running: ${left.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`,
    ]);
    return 130;
  }
  if (stopped !== null) say(['', `The demonstration was ended because ${stopped}`]);
  return conclude(place, { exit, left, seconds: (performance.now() - started) / 1000, sheet });
}

async function conclude(
  place: DemoPlace,
  given: {
    readonly exit: number | null;
    readonly left: Awaited<ReturnType<typeof processesGone>>;
    readonly seconds: number;
    readonly sheet: ReturnType<typeof sheetOf>;
  },
): Promise<number> {
  const folder = latestRun(place)?.folder;
  const run = folder === undefined ? undefined : readRecorded(folder);
  if (!run) {
    say([`The demonstration failed: hma run ended with ${String(given.exit)} and left no record in ${place.home}`]);
    return 1;
  }
  const checks = await checkDemo({ place, run, exit: given.exit, left: given.left, options: demonstration.options });
  say(closingPage({ place, run, checks, seconds: given.seconds }, given.sheet));
  return checks.every(({ good }) => good) ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
