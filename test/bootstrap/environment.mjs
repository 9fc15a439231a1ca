// @ts-check
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root folder, absolute. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The Node 22 that the npm package `node` brings; the machine's own may be older. */
export const nodeBinary = join(root, 'node_modules/node/bin/node');

/**
 * An environment in which `node` is the project's Node and the project's tools are found first.
 * @param {NodeJS.ProcessEnv} [base]
 * @returns {NodeJS.ProcessEnv}
 */
export const projectEnvironment = (base = process.env) => ({
  ...base,
  PATH: [join(root, 'node_modules/node/bin'), join(root, 'node_modules/.bin'), base['PATH'] ?? '/usr/bin:/bin'].join(
    delimiter,
  ),
});

/**
 * Runs a program in the repository's root with this process's own input and output, and waits for it.
 * A program that can't be started counts as exit code 127, one ended by a signal as 128 + its number (as in a shell).
 * @param {readonly string[]} command program and arguments
 * @param {{ env?: NodeJS.ProcessEnv }} [settings] the default environment is {@link projectEnvironment}
 * @returns {Promise<number>} the exit code
 */
export const run = (command, settings = {}) =>
  new Promise((settle) => {
    const [program = '', ...args] = command;
    const child = spawn(program, args, { cwd: root, env: settings.env ?? projectEnvironment(), stdio: 'inherit' });
    const stop = forwardSignals(child);
    child.once('error', (error) => {
      stop();
      console.error(`Could not start ${program}: ${error.message}`);
      settle(127);
    });
    child.once('exit', (code, signal) => {
      stop();
      settle(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
    });
  });

/**
 * A terminal sends Ctrl-C to the child as well, so it is passed on only where there is no terminal:
 * a program that asks after the first Ctrl-C would take a second one for the answer.
 * @param {import('node:child_process').ChildProcess} child
 * @returns {() => void} ends the forwarding
 */
const forwardSignals = (child) => {
  const pass = (/** @type {NodeJS.Signals} */ signal) => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  for (const signal of signals) process.on(signal, pass);
  return () => {
    for (const signal of signals) process.off(signal, pass);
  };
};
