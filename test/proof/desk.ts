import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';

import type { RunState } from '../../src/run/model.ts';
import { projectEnvironment } from '../bootstrap/environment.mjs';
import { hmaBundle } from '../demo/place.ts';
import { endProcessesOn, processesOn, type Found } from '../demo/processes.ts';
import { latestRun, readRecorded } from '../demo/recorded.ts';
import { normalize } from './normalize.ts';

/** What a command came to. */
export interface Done {
  readonly exit: number | null;
  /** What it printed, both streams in the order in which they came. */
  readonly text: string;
}

/** A person at a machine: an empty folder, a shell, `hma` on PATH; everything done at it goes into the transcript. */
export interface Desk {
  readonly workspace: string;
  /** Words between commands. */
  say(text: string): void;
  /** Writes a file and shows it. */
  write(path: string, text: string): void;
  /** Writes a file that another journey shows. */
  put(path: string, text: string): void;
  /** Runs a command (words separated by blanks, a part in double quotes is one word), shows it and what it printed; asserts its exit code. */
  run(command: string, expected?: number): Promise<Done>;
  /** Starts a command that goes on; `show` waits for its end and then shows it where it is called. */
  start(command: string): { show(expected?: number): Promise<Done> };
  /** Waits until the run on disk fulfils a condition; bounded, says what it waited for. */
  until(what: string, holds: (state: RunState) => boolean): Promise<RunState>;
  /** The run as the disk has it. */
  state(): RunState;
  processes(): Found[];
  /** Asserts; the words are of what should hold. */
  expect(what: string, holds: boolean): void;
  /** The transcript so far, ids and times made the same. */
  transcript(): string;
  /** Ends what still runs and removes the folder. Throws when something can't be ended. */
  close(): Promise<void>;
}

/** Longest wait for one thing, ms. */
const patienceMs = 120_000;
const lookMs = 50;

/** A new desk with an empty workspace `~/<name>`. */
export function openDesk(name: string): Desk {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hma-proof-')));
  const home = join(root, 'home');
  const [workspace, bin, state] = [join(home, name), join(root, 'bin'), join(home, '.local/state/hma')];
  for (const folder of [workspace, bin]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(bin, 'hma'), `#!/bin/sh\nexec '${process.execPath}' '${hmaBundle}' "$@"\n`);
  chmodSync(join(bin, 'hma'), 0o755);
  const outer = projectEnvironment();
  const env = {
    ...outer,
    PATH: `${bin}:${outer['PATH']}`,
    HOME: home,
    COLUMNS: '110',
    NO_COLOR: '1',
    HMA_HOME: '',
    HMA_TOKEN: '',
    HMA_SOCKET: '',
    XDG_STATE_HOME: '',
  };
  const ground = { home: state, workspace };
  const lines: string[] = [];

  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  };
  const recorded = (): RunState | undefined => {
    const run = latestRun(ground);
    return run && readRecorded(run.folder)?.state;
  };
  const show = (command: string, done: Done): void =>
    void lines.push(
      '```console',
      `$ ${command}`,
      ...(done.text === '' ? [] : [done.text.trimEnd()]),
      ...(done.exit === 0 ? [] : [`(exit code ${String(done.exit)})`]),
      '```',
      '',
    );
  const assertExit = (command: string, done: Done, expected: number): Done => {
    if (done.exit !== expected)
      throw new Error(`${command}: exit code ${String(done.exit)}, expected ${expected}\n${done.text}`);
    return done;
  };
  return {
    workspace,
    say: (text) => void lines.push(text, ''),
    put,
    write(path, text) {
      put(path, text);
      lines.push(
        `\`${path}\``,
        '',
        `\`\`\`${path.endsWith('.yaml') ? 'yaml' : path.endsWith('.mjs') ? 'js' : 'text'}`,
        text.trimEnd(),
        '```',
        '',
      );
    },
    async run(command, expected = 0) {
      const done = await ended(spawnAt(command, { cwd: workspace, env }));
      show(command, done);
      return assertExit(command, done, expected);
    },
    start(command) {
      const end = ended(spawnAt(command, { cwd: workspace, env }));
      return {
        async show(expected = 0) {
          const done = await end;
          show(command, done);
          return assertExit(command, done, expected);
        },
      };
    },
    async until(what, holds) {
      for (const end = performance.now() + patienceMs; ;) {
        const now = recorded();
        if (now && holds(now)) return now;
        if (performance.now() > end)
          throw new Error(
            `waited ${patienceMs / 1000} s for: ${what}; phase ${now?.phase ?? 'none'}, ${JSON.stringify(now?.options.at(-1))}, pause ${JSON.stringify(now?.pause)}`,
          );
        await new Promise((resolve) => setTimeout(resolve, lookMs));
      }
    },
    state() {
      const now = recorded();
      if (!now) throw new Error(`there is no run of ${workspace}`);
      return now;
    },
    processes: () => processesOn(ground),
    expect(what, holds) {
      if (!holds) throw new Error(`does not hold: ${what}`);
    },
    transcript: () =>
      normalize(lines.join('\n'), { [root]: '', [home]: '/home/you' }).replaceAll(
        new RegExp(`\\b${userInfo().username}\\b`, 'g'),
        'you',
      ),
    async close() {
      const left = await endProcessesOn(ground);
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
      if (left.length > 0) throw new Error(`still running: ${JSON.stringify(left)}`);
    },
  };
}

/** Words as a shell would split them, double quotes alone known. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

function spawnAt(command: string, given: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): ChildProcess {
  const [program = '', ...words] = wordsOf(command);
  return spawn(program, words, { ...given, stdio: ['ignore', 'pipe', 'pipe'], timeout: patienceMs });
}

function ended(child: ChildProcess): Promise<Done> {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes: Buffer) => (text += bytes.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit) => resolve({ exit, text }));
  });
}
