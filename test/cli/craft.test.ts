import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Command } from 'commander';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { otherCommands } from '../../src/cli/describe/groups.ts';
import { processDesk, type Desk } from '../../src/cli/desk.ts';
import { commandLine } from '../../src/cli/program.ts';
import { Interrupted, interruptibly, showing } from '../../src/cli/progress.ts';
import { outputs } from '../../src/cli/schemas.ts';
import { manPage } from './manPage.ts';

const program = commandLine(processDesk(), () => async () => undefined);

/** Every command that people see, with those inside of groups such as `hma secrets`. */
const visible = (command: Command): Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== 'help')
    .flatMap((each) => [each, ...visible(each)]);
const nameOf = (command: Command): string =>
  command.parent === null ? 'hma' : `${nameOf(command.parent)} ${command.name()}`;
const commands = visible(program);

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  return text;
}

test('every command has an example of itself in its help', () => {
  const without = commands.filter((command) => !helpOf(command).split('\nExamples:\n')[1]?.includes(nameOf(command)));
  expect(without.map(nameOf)).toEqual([]);
  expect(commands.length).toBeGreaterThan(40);
});

test('hma --help groups its commands; only what is about hma itself is in no group', () => {
  const help = helpOf(program);
  expect(help).not.toContain('\nCommands:');
  expect(
    help
      .split(`\n${otherCommands}\n`)[1]
      ?.split('\n\n')[0]
      ?.match(/^ {2}\S+/gm),
  ).toEqual(['  explain', '  completion', '  help']);
});

test('what each command prints with --json is documented', () => {
  const documented = outputs.flatMap(({ command }) =>
    command.split(' · ').flatMap((call) => {
      const names = /^hma ([a-z]+(?: \| [a-z]+)*(?: list)?)/.exec(call)?.[1] ?? '';
      return names.split(' | ').map((name) => `hma ${name}`);
    }),
  );
  const known = new Set(documented);
  const taking = commands.filter(({ options }) => options.some(({ long }) => long === '--json')).map(nameOf);
  expect(taking.filter((name) => !known.has(name))).toEqual([]);
});

test('docs/hma.1 is current (node test/cli/writeCommandDocs.ts), has every command, and is plain for roff', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/hma.1'), 'utf8');
  expect(page).toBe(manPage(program));
  const sections = [...page.matchAll(/^\.SS (hma[a-z ]*[a-z])/gm)].map(([, name]) => name);
  expect(commands.map(nameOf).filter((name) => !sections.includes(name))).toEqual([]);
  expect(page).toMatch(/^[\n -~]*$/);
  const requests = new Set(page.match(/^[.'].\S?/gm));
  expect([...requests].toSorted()).toEqual(
    ['.B', '.BR', '.I', '.PP', '.RE', '.RS', '.SH', '.SS', '.TH', '.TP', '.\\"', '.fi', '.nf'].toSorted(),
  );
});

const deskWith = (isTTY: boolean, env: Record<string, string> = {}): { desk: Desk; written: () => string } => {
  let written = '';
  const stderr = { isTTY, columns: 30, write: (text: string) => void (written += text) };
  return { desk: { ...processDesk(), env, stderr: stderr as unknown as NodeJS.WriteStream }, written: () => written };
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('progress of long work is a line on a terminal that is gone in the end; nothing of quick work, pipes and dumb terminals', async () => {
  const watched = async (desk: Desk, ms: number) => {
    const work = showing(desk, 'packing', async (tell) => {
      tell('2 of 7');
      await new Promise((resolve) => setTimeout(resolve, ms));
      return 'done';
    });
    await vi.advanceTimersByTimeAsync(ms);
    expect(await work).toBe('done');
  };
  const [person, quick, pipe, dumb] = [
    deskWith(true),
    deskWith(true),
    deskWith(false),
    deskWith(true, { TERM: 'dumb' }),
  ];
  await watched(person.desk, 2500);
  await watched(quick.desk, 900);
  await watched(pipe.desk, 2500);
  await watched(dumb.desk, 2500);
  expect(person.written()).toBe('\rpacking: 2 of 7 … 1 s\u001b[K\rpacking: 2 of 7 … 2 s\u001b[K\r\u001b[K');
  expect([quick, pipe, dumb].map(({ written }) => written())).toEqual(['', '', '']);
});

test('Ctrl-C in long work is told to it, and waited for; afterwards nothing listens any more', async () => {
  const before = process.listenerCount('SIGINT');
  const cleaned = Promise.withResolvers<string>();
  const work = interruptibly(async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return cleaned.promise;
  });
  process.emit('SIGINT');
  cleaned.resolve('cleaned up');
  await expect(work).rejects.toBeInstanceOf(Interrupted);
  expect(process.listenerCount('SIGINT')).toBe(before);
  expect(await interruptibly(async () => 'whole')).toBe('whole');
});
