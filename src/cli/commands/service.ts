import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { writeFileAtomic } from '../../base/files.ts';
import { lastLineOf } from '../../base/oneLine.ts';
import { failure } from '../../client/failure.ts';
import { installRuntime } from '../../controller/runtime.ts';
import { fail, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { homeFor } from './agents.ts';

const run = promisify(execFile);
const unit = 'hma-resume.service';

/** Where the unit lies. */
export const unitFile = (env: NodeJS.ProcessEnv): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? homedir(), '.config'), 'systemd', 'user', unit);

/** A word of a unit file's command line. */
const word = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`;

/** The text of the unit: once after boot, everything that is not over is taken up again. */
export const unitText = (given: {
  readonly node: string;
  readonly cli: string;
  readonly home: string;
  readonly path: string;
}): string =>
  `[Unit]
Description=HMA: take up runs again after a reboot
After=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
KillMode=process
Environment=${word(`HMA_HOME=${given.home}`)}
Environment=${word(`PATH=${given.path}`)}
ExecStart=${word(given.node)} ${word(given.cli)} resume --all

[Install]
WantedBy=default.target
`;

/** `hma service install`: runs that are not over are taken up again after a reboot, by systemd for this user. */
export async function installService(desk: Desk): Promise<number> {
  const home = await homeFor(desk);
  const { node, folder } = installRuntime(home);
  const file = unitFile(desk.env);
  const cli = join(folder, 'cli.js');
  mkdirSync(dirname(file), { recursive: true });
  writeFileAtomic(file, unitText({ node, cli, home, path: desk.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' }), 0o644);
  const enabled = await systemctl(desk, 'daemon-reload').then((why) => why ?? systemctl(desk, 'enable', unit));
  if (enabled !== null) {
    rmSync(file, { force: true });
    return fail(
      desk,
      failure('failed', 'no_systemd', {
        what: `systemd could not take the service: ${enabled}`,
        fix: `Let your machine run this at its start instead, as you (crontab -e, a line with @reboot): ${node} ${cli} resume --all`,
      }),
      false,
    );
  }
  await sayLines(desk, [
    `${file} is enabled: runs that are not over are taken up again when you log in.`,
    'On a machine where nobody logs in after a reboot, once, as root: loginctl enable-linger $USER',
    'Keys that are in no file then are not there: keep them with hma secrets set NAME.',
  ]);
  return exitCodes.ok;
}

/** `hma service uninstall`. */
export async function uninstallService(desk: Desk): Promise<number> {
  const file = unitFile(desk.env);
  if (!existsSync(file)) {
    await sayLines(desk, ['There is no service to remove.']);
    return exitCodes.ok;
  }
  await systemctl(desk, 'disable', unit);
  rmSync(file);
  await systemctl(desk, 'daemon-reload');
  await sayLines(desk, [`${file} is removed.`]);
  return exitCodes.ok;
}

/** Calls `systemctl --user`; null, or why it did not work. */
async function systemctl(desk: Desk, ...words: readonly string[]): Promise<string | null> {
  try {
    await run('systemctl', ['--user', ...words], { env: desk.env, timeout: 30_000 });
    return null;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? lastLineOf(String(error.stderr)) : '';
    return said || (error instanceof Error ? error.message : String(error));
  }
}
