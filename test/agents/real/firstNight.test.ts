import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { exitCodes } from '../../../src/cli/exitCodes.ts';
import { clisPath } from '../../rig/agentsRun.ts';
import { startModelServer, type ModelServer } from '../../rig/modelServer.ts';
import { endAll } from '../../rig/run.ts';
import {
  edited,
  missing,
  openShell,
  stepsOf,
  type TutorialCommand,
  type TutorialShell,
  type TutorialStep,
} from '../../rig/tutorial.ts';
import { claudeNight, codexNight } from './firstNightModels.ts';

const repository = join(import.meta.dirname, '../../..');
const steps = stepsOf(readFileSync(join(repository, 'docs/first-night.md'), 'utf8'));

/** The reader's home in the tutorial. */
const readersHome = '/home/you';

/** Longest wait for the night to come to where the tutorial is, ms. */
const patienceMs = 180_000;

/**
 * Commands that may be given again until they tell what the tutorial tells: a night takes its time, and the controller that graded is
 * there for some seconds more, in which `hma gc` leaves its run alone.
 */
const repeatable = /^hma (status|candidates|gc)\b/;

const runId = /\b\d{8}-\d{6}-[0-9a-f]{4}\b/;

/** The reader's place, as it becomes. */
interface Place {
  readonly shell: TutorialShell;
  readonly server: ModelServer;
  readonly home: string;
  /** All that was printed so far. */
  printed: string;
}

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hma-night-')));
});
afterEach(async () => {
  await endAll(root);
  rmSync(root, { recursive: true, force: true });
});

/** The machine of a person who has never used hma: an empty HOME, `hma`, the two CLIs, a name for git. */
function newcomer(): NodeJS.ProcessEnv & { readonly HOME: string } {
  const [home, bin] = [join(root, 'you'), join(root, 'bin')];
  for (const folder of [home, bin]) mkdirSync(folder);
  symlinkSync(join(repository, 'dist/cli.js'), join(bin, 'hma'));
  const identity = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'you'],
    [`GIT_${role}_EMAIL`, 'you@example.org'],
  ]);
  return {
    ...{ HOME: home, TERM: 'dumb', COLUMNS: '110' },
    ...Object.fromEntries(identity),
    PATH: [bin, clisPath, dirname(process.execPath), '/usr/local/bin:/usr/bin:/bin'].join(delimiter),
  };
}

it('docs/first-night.md, followed literally from an empty folder, is the night that it tells of', async () => {
  expect(steps.filter(({ kind }) => kind === 'command').length).toBeGreaterThan(20);
  const env = newcomer();
  await using shell = openShell(root, { cwd: env.HOME, env });
  let goesOn = false;
  await using server = await startModelServer({ claude: claudeNight(), codex: codexNight(() => goesOn) });
  const place: Place = { shell, server, home: env.HOME, printed: '' };
  try {
    for (const step of steps) {
      await follow(step, place);
      goesOn ||= step.kind === 'command' && step.command === 'hma resume';
    }
  } finally {
    // for whoever writes the tutorial
    mkdirSync(join(repository, 'test-output'), { recursive: true });
    writeFileSync(join(repository, 'test-output/first-night.txt'), place.printed);
  }
  expect(new Set(server.requests.map(({ key }) => key))).toEqual(new Set(['your-key']));
}, 600_000);

async function follow(step: TutorialStep, place: Place): Promise<void> {
  if (step.kind === 'command') return command(step, place);
  const path = join((await place.shell.run('pwd')).text.trim(), step.path);
  const text = step.kind === 'write' ? step.text : edited(readFileSync(path, 'utf8'), step.changes);
  writeFileSync(path, withAccounts(text.replaceAll(readersHome, place.home), place));
}

/** The one thing that a reader has and this test has not: accounts. So hma.yaml leads to the scripted models. */
const withAccounts = (text: string, { server }: Place): string =>
  text
    .replace('adapter: claude-code  #', `baseUrl: ${server.url('claude')}\n    adapter: claude-code  #`)
    .replace('adapter: codex  #', `baseUrl: ${server.url('codex')}/v1\n    adapter: codex  #`);

async function command({ command: written, shown, before }: TutorialCommand, place: Place): Promise<void> {
  const line = written
    .replaceAll(readersHome, place.home)
    .replace(runId, (told) => place.printed.match(runId)?.[0] ?? told);
  for (const end = performance.now() + patienceMs; ;) {
    const { code, text } = await place.shell.run(
      line,
      before === null ? undefined : (sofar) => missing([...before, '…'], sofar) === null,
    );
    const printed = text.replaceAll(place.home, readersHome);
    const lack = missing(shown, printed);
    if (lack !== null && repeatable.test(line) && performance.now() < end) continue;
    place.printed += `$ ${written}\n${printed}\n`;
    expect({ lack, code }, `$ ${written}\n${printed}`).toEqual({
      lack: null,
      code: before === null ? exitCodes.ok : exitCodes.detached,
    });
    return;
  }
}
