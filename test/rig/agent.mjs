// A scripted agent for tests: `node agent.mjs PLAN` where PLAN is JSON: {"<option or role>": [step, …], "default": [step, …]}.
// Steps are tried in order; each does a real thing through the real `hma`.
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const plan = JSON.parse(process.argv[2] ?? '{}');
const workspace = process.env.HMA_WORKSPACE ?? process.cwd();
const key = process.env.HMA_ROLE === 'review' ? 'review' : process.env.HMA_OPTION;
const attempt = process.env.HMA_ATTEMPT;
const steps = plan[`${key}.${attempt}`] ?? plan[key] ?? plan.default ?? [];
const say = (line) => console.log(line);

function hma(...args) {
  const done = spawnSync('hma', args, { encoding: 'utf8' });
  say(`hma ${args.join(' ')} -> ${done.status} ${done.stdout.trim()} ${done.stderr.trim()}`);
  return done;
}

const write = (path, text) => {
  mkdirSync(dirname(join(workspace, path)), { recursive: true });
  writeFileSync(join(workspace, path), text);
};

const actions = {
  /** Writes candidate.txt and submits it. */
  submit(value) {
    const wish = typeof value === 'object' ? value : { text: String(value) };
    write('candidate.txt', wish.text);
    hma(
      'submit',
      '--json',
      '--wait',
      String(wish.wait ?? 60),
      ...(wish.note ? ['--note', wish.note] : []),
      ...(wish.score === undefined ? [] : ['--score', String(wish.score)]),
    );
  },
  hma: (args) => void hma(...args),
  write: ([path, text]) => write(path, text),
  append: ([path, text]) => appendFileSync(join(workspace, path), text),
  /** Starts a program and does not wait for it. */
  leave: ([program, ...args]) => spawn(program, args, { detached: true, stdio: 'ignore' }).unref(),
  run: ([program, ...args]) => void spawnSync(program, args, { stdio: 'inherit' }),
  nominate: (id) => void hma('nominate', id, '--reason', 'the plan says so'),
  ballot: (text) => writeFileSync('ballot.json', typeof text === 'string' ? text : JSON.stringify(text)),
  say,
  /** Prints an environment variable or a file, so that a test can see what a session sees. */
  show: (path) => say(`${path}: ${existsSync(path) ? readFileSync(path, 'utf8') : 'not there'}`),
  environment: () => say(JSON.stringify(process.env)),
  /** Gives up as a harness does whose provider says no; a limit that is over so many ms from now. */
  fail: ([reason, resetIn]) =>
    say(
      JSON.stringify({
        type: 'hma.failure',
        reason,
        detail: 'so it says',
        ...(resetIn === undefined ? {} : { resetAt: Date.now() + resetIn }),
      }),
    ),
  exit: (code) => process.exit(code),
  kill: (name) => process.kill(process.pid, name),
  spin: () => {
    for (;;);
  },
};

say(`scripted agent, option ${key}, attempt ${attempt}, pid ${process.pid}`);
let held = false;
for (const step of steps) {
  const [name, value] = Object.entries(step)[0];
  if (name === 'hold') {
    held = true;
    setInterval(() => undefined, 1 << 30);
    break;
  }
  actions[name](value);
}
if (!held) process.exit(0);
