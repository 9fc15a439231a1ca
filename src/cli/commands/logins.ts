import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { forgetLogin, holderOf, keepLogin, loginFolder, type LoginPlace } from '../../agents/loginStore.ts';
import type { Harness } from '../../agents/port.ts';
import { absolutePath, findProgram } from '../../base/program.ts';
import { ok, refused, type Result } from '../../base/result.ts';
import { harnesses } from '../../client/agentLook.ts';
import { failure, type Failure } from '../../client/failure.ts';
import { fail, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { homeFor } from './agents.ts';

/** What a sign-in may see beside PATH and HOME: the terminal, the desktop for its browser, the way out to the network. */
const passedOn = [
  ...['TERM', 'COLORTERM', 'NO_COLOR', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ'],
  ...['DISPLAY', 'WAYLAND_DISPLAY', 'XDG_RUNTIME_DIR', 'XAUTHORITY', 'BROWSER', 'DBUS_SESSION_BUS_ADDRESS'],
  ...['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
];

/**
 * `hma login AGENT`: the harness's own sign-in in this terminal, with a fresh HOME; its files then go to the login folder. The user's own
 * login is never copied: refresh tokens are good for one exchange, and two owners would spend each other's.
 */
export async function login(desk: Desk, name: string): Promise<number> {
  const found = planOf(name, await homeFor(desk));
  if (!found.ok) return fail(desk, found.refusal, false);
  const { harness, place } = found.value;
  const [wanted, ...args] = place.plan.argv;
  const program = await findProgram(wanted, { path: desk.env['PATH'], cwd: desk.cwd });
  if (!program.ok)
    return fail(
      desk,
      failure('failed', 'not_installed', {
        what: `${harness.title} can't sign in: ${program.refusal.detail}`,
        fix: `Install it: ${harness.install}`,
      }),
      false,
    );
  const logins = join(place.folder, '..');
  mkdirSync(logins, { recursive: true, mode: 0o700 });
  const home = mkdtempSync(join(logins, '.signing-in-'));
  try {
    const code = await inTerminal(desk, [program.value, ...args], { home, environment: place.plan.environment });
    if (code === 0 && (await keepLogin(place, home))) {
      const holder = holderOf(place);
      const meanwhile = holder ? `A session of run ${holder.run} goes on with the login it has. ` : '';
      await sayLines(desk, [`${harness.title} is signed in for hma. ${meanwhile}Sign out again: hma logout ${name}`]);
      return exitCodes.ok;
    }
    const what =
      code === 0
        ? `${harness.title} ended well but left no whole login (looked for ${place.plan.files.join(', ')})`
        : `${harness.title} did not sign in (exit code ${code})`;
    return await fail(desk, failure('failed', 'not_signed_in', { what, fix: `Try again: hma login ${name}` }), false);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** `hma logout AGENT`: forgets our login. It stays valid with its provider until it is revoked there. */
export async function logout(desk: Desk, name: string): Promise<number> {
  const found = planOf(name, await homeFor(desk));
  if (!found.ok) return fail(desk, found.refusal, false);
  const gone = await forgetLogin(found.value.place);
  await sayLines(desk, [
    gone
      ? `hma has forgotten the login of ${found.value.harness.title}; revoke it with its provider where it should be void at once.`
      : `${found.value.harness.title} was not signed in for hma.`,
  ]);
  return exitCodes.ok;
}

function planOf(name: string, home: string): Result<{ harness: Harness; place: LoginPlace }, Failure> {
  const all = harnesses();
  const found = all.find((one) => one.name === name);
  const withLogin = all.filter(({ harness }) => harness.login !== null).map((one) => one.name);
  if (!found)
    return refused(
      failure('usage', 'unknown_agent', {
        what: `there is no agent called ${name}`,
        fix: `Agents with a login: ${withLogin.join(', ')}. See hma agents.`,
      }),
    );
  const { harness } = found;
  if (!harness.login)
    return refused(
      failure('refused', 'no_login', {
        what: `${harness.title} is used with a key; it has no login that could be kept`,
        fix: `Set ${harness.keys[0]} before hma run.`,
      }),
    );
  return ok({ harness, place: { folder: loginFolder(home, name), plan: harness.login } });
}

/** Runs a program in this terminal, with only the variables it needs; Ctrl-C reaches it, and we wait for its end. Its exit code. */
async function inTerminal(
  desk: Desk,
  argv: readonly [string, ...string[]],
  given: { readonly home: string; readonly environment: Readonly<Record<string, string>> },
): Promise<number> {
  const [file, ...args] = argv;
  const named = Object.fromEntries(passedOn.flatMap((name) => (desk.env[name] ? [[name, desk.env[name]]] : [])));
  const env = { ...named, ...given.environment, PATH: absolutePath(desk.env['PATH']), HOME: given.home };
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    const child = spawn(file, args, { cwd: given.home, env, stdio: 'inherit' });
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
    });
  } finally {
    process.off('SIGINT', ignore);
  }
}
