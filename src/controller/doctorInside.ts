/** What the program inside is asked to look at; JSON in its argument. */
export interface InsideQuestions {
  /** Files and folders that must look empty or be unreadable, by what they are. */
  readonly closed: Readonly<Record<'state' | 'hidden' | 'homes', readonly string[]>>;
  readonly workspace: string;
  /** A port on 127.0.0.1 that answers outside. */
  readonly port: number;
  readonly gpus: boolean;
  /** Programs that must start, with their arguments. */
  readonly programs: readonly (readonly [string, ...string[]])[];
}

/** What it saw; JSON in its last line. */
export interface InsideAnswers {
  /** Those of `closed` that could be read all the same. */
  readonly open: Readonly<Record<'state' | 'hidden' | 'homes', readonly string[]>>;
  readonly writable: boolean;
  /** Where `hma` was found: by PATH, and by login shells that are there. */
  readonly hma: Readonly<Record<string, string | null>>;
  readonly gpus: number | null;
  readonly network: boolean;
  readonly programs: readonly { readonly ok: boolean; readonly said: string }[];
}

/** The program itself: plain JavaScript for the session's own Node, since nothing else of ours is readable inside. */
export const insideProgram = `
import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
const asked = JSON.parse(process.argv[1]);
// a hidden file inside a hidden folder leaves its empty stand-in there: only what can be read is open
const isOpen = (path) => {
  try {
    return statSync(path).isDirectory()
      ? readdirSync(path).some((name) => isOpen(path + '/' + name))
      : readFileSync(path).length > 0;
  } catch { return false; }
};
// all of it together ends before the look does, so that what hangs is told beside what does not
const end = performance.now() + 15000;
const said = (program, args, more = {}) => {
  const timeout = Math.max(100, Math.min(8000, end - performance.now()));
  const done = spawnSync(program, args, { encoding: 'utf8', timeout, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'], ...more });
  if (done.error?.code === 'ETIMEDOUT') return { ok: false, there: true, out: '', err: program + ' ' + args.join(' ') + ' does not answer' };
  return { ok: done.status === 0, there: done.error === undefined, out: (done.stdout ?? '').trim(), err: (done.stderr ?? done.error?.message ?? '').trim() };
};
const hma = {};
const found = said('/bin/sh', ['-c', 'command -v hma']);
hma.PATH = found.ok ? found.out : null;
for (const shell of ['bash', 'sh', 'zsh']) {
  const login = said(shell, ['-lc', 'command -v hma']);
  if (login.there) hma[shell + ' -l'] = login.ok ? login.out.split('\\n').at(-1) : null;
}
const writable = (() => { try { accessSync(asked.workspace, constants.W_OK); return true; } catch { return false; } })();
const gpus = asked.gpus ? said('nvidia-smi', ['-L']) : null;
const network = await new Promise((resolve) => {
  const socket = connect(asked.port, '127.0.0.1');
  const tell = (is) => { socket.destroy(); resolve(is); };
  socket.setTimeout(3000, () => tell(false));
  socket.once('connect', () => tell(true));
  socket.once('error', () => tell(false));
});
const programs = asked.programs.map(([program, ...args]) => {
  const done = said(program, args);
  return { ok: done.ok, said: (done.out || done.err).slice(0, 300) };
});
const open = Object.fromEntries(Object.entries(asked.closed).map(([what, paths]) => [what, paths.filter(isOpen)]));
console.log(JSON.stringify({ open, writable, hma, gpus: gpus && (gpus.ok ? gpus.out.split('\\n').filter((line) => line.startsWith('GPU')).length : 0), network, programs }));
`;
