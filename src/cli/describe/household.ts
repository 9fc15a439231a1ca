import type { Command } from 'commander';
import { agents } from '../commands/agents.ts';
import { explain } from '../commands/explain.ts';
import { login, logout } from '../commands/logins.ts';
import { prices } from '../commands/prices.ts';
import { listSecrets, removeSecret, setSecret } from '../commands/secrets.ts';
import { installService, uninstallService } from '../commands/service.ts';
import type { Desk } from '../desk.ts';
import { examples, type Act } from './parts.ts';

/** Agents, their logins and prices. */
export function describeAgents(program: Command, desk: Desk, act: Act): void {
  examples(
    program
      .command('agents')
      .description("the agents' CLIs: found, version, how signed in, what each can do; and the presets")
      .option('--json', 'print JSON'),
    'hma agents',
  ).action((options: { json?: boolean }) => act(() => agents(desk, options))());
  examples(
    program
      .command('prices')
      .description('what models cost, from when and where; and where your own prices stand')
      .option('--json', 'print JSON'),
    'hma prices',
  ).action((options: { json?: boolean }) => act(() => prices(desk, options))());
  examples(
    program
      .command('login')
      .argument('<agent>', 'such as claude-code or codex')
      .description('sign an agent in, for hma alone: its own sign-in in this terminal, with a HOME of its own')
      .action((name: string) => act(() => login(desk, name))()),
    'hma login claude-code',
  );
  examples(
    program
      .command('logout')
      .argument('<agent>', 'such as claude-code or codex')
      .description("forget hma's login of an agent"),
    'hma logout claude-code',
  ).action((name: string) => act(() => logout(desk, name))());
}

/** Commands about the machine and its user, not about one run. */
export function describeHousehold(program: Command, desk: Desk, act: Act): void {
  examples(
    program
      .command('explain')
      .argument('[word...]', 'such as disk_low; without one, all are listed')
      .description('what a word that a run uses means, what hma did about it, and what you can do')
      .action((words: string[]) => act(() => explain(desk, words))()),
    'hma explain disk_low',
    'hma explain usage limit',
    'hma explain evaluator_broken',
  );
  const service = examples(
    program.command('service').description('take runs up again after a reboot, by systemd for this user'),
    'hma service install',
  );
  examples(service.command('install').description('write and enable the service'), 'hma service install').action(
    act(() => installService(desk)),
  );
  examples(service.command('uninstall').description('remove it'), 'hma service uninstall').action(
    act(() => uninstallService(desk)),
  );
  const secrets = examples(
    program.command('secrets').description('values kept for variables that are not set where a run is taken up again'),
    'hma secrets list',
    'hma secrets set ANTHROPIC_API_KEY < key.txt',
  );
  examples(
    secrets.command('list').description('the names; never a value').option('--json', 'print JSON'),
    'hma secrets list',
  ).action((options: { json?: boolean }) => act(() => listSecrets(desk, options))());
  examples(
    secrets
      .command('set')
      .argument('<name>', "the variable's name")
      .description('keep a value, read from standard input'),
    'hma secrets set ANTHROPIC_API_KEY < key.txt',
  ).action((name: string) => act(() => setSecret(desk, name))());
  examples(
    secrets.command('remove').argument('<name>', "the variable's name").description('forget it'),
    'hma secrets remove ANTHROPIC_API_KEY',
  ).action((name: string) => act(() => removeSecret(desk, name))());
}

/** Our words for the command that the completion's library adds. */
export function describeCompletion(program: Command): void {
  const completion = program.commands.find((command) => command.name() === 'completion');
  if (completion)
    examples(completion.description('print a script for tab completion'), 'source <(hma completion bash)');
}
