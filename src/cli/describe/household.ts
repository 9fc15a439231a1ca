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
  program
    .command('agents')
    .description("the agents' CLIs: found, version, how signed in, what each can do; and the presets")
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => act(() => agents(desk, options))());
  program
    .command('prices')
    .description('what models cost, from when and where; and where your own prices stand')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => act(() => prices(desk, options))());
  examples(
    program
      .command('login')
      .argument('<agent>', 'such as claude-code or codex')
      .description('sign an agent in, for hma alone: its own sign-in in this terminal, with a HOME of its own')
      .action((name: string) => act(() => login(desk, name))()),
    'hma login claude-code',
  );
  program
    .command('logout')
    .argument('<agent>', 'such as claude-code or codex')
    .description("forget hma's login of an agent")
    .action((name: string) => act(() => logout(desk, name))());
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
  const service = program.command('service').description('take runs up again after a reboot, by systemd for this user');
  service
    .command('install')
    .description('write and enable the service')
    .action(act(() => installService(desk)));
  service
    .command('uninstall')
    .description('remove it')
    .action(act(() => uninstallService(desk)));
  const secrets = examples(
    program.command('secrets').description('values kept for variables that are not set where a run is taken up again'),
    'hma secrets list',
    'hma secrets set ANTHROPIC_API_KEY < key.txt',
  );
  secrets
    .command('list')
    .description('the names; never a value')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => act(() => listSecrets(desk, options))());
  secrets
    .command('set')
    .argument('<name>', "the variable's name")
    .description('keep a value, read from standard input')
    .action((name: string) => act(() => setSecret(desk, name))());
  secrets
    .command('remove')
    .argument('<name>', "the variable's name")
    .description('forget it')
    .action((name: string) => act(() => removeSecret(desk, name))());
}
