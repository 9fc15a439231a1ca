import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { adapters } from '../../src/agents/adapters.ts';
import { systemClock } from '../../src/base/clock.ts';
import { version } from '../../src/base/version.ts';
import { budgetWish } from '../../src/cli/commands/intents.ts';
import { exitCodes } from '../../src/cli/exitCodes.ts';
import { sortCandidates } from '../../src/cli/commands/looking.ts';
import { commandDocs } from '../../src/cli/commandDocs.ts';
import { processDesk, type Desk } from '../../src/cli/desk.ts';
import { interruptions } from '../../src/cli/interrupt.ts';
import { jsonDocs } from '../../src/cli/jsonDocs.ts';
import { findRun, findWorkspace, stateHomes } from '../../src/client/lookup.ts';
import { commandLine, runCli } from '../../src/cli/program.ts';
import {
  candidatesOutput,
  errorOutput,
  eventLine,
  gcOutput,
  initOutput,
  listOutput,
  showOutput,
  statusOutput,
} from '../../src/cli/schemas.ts';
import { runFiles, runFolderOf } from '../../src/ledger/places.ts';
import { loadContract } from '../../src/task/load.ts';
import { createLedger } from './ledgerOnDisk.ts';
import { stateOf, history, wholeRun, opened } from './history.ts';

let root: string;
let workspace: string;
let home: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hma-cli-')));
  workspace = join(root, 'houses');
  home = join(root, 'state');
  mkdirSync(join(workspace, 'src/deep'), { recursive: true });
  writeFileSync(join(workspace, 'hma.yaml'), 'objective: x\n');
  layRun('20261130-181123-ab12', wholeRun());
  layRun('20261130-171123-ab00', wholeRun().slice(0, 20));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Puts a finished or interrupted run on disk, with a real ledger. */
function layRun(run: string, facts: ReturnType<typeof wholeRun>): void {
  const folder = runFolderOf(home, workspace, run);
  mkdirSync(join(folder, 'sessions/option-1/attempt-1'), { recursive: true });
  writeFileSync(runFiles(folder).run, JSON.stringify({ run, workspace, home, name: 'houses', openedWall: 0 }));
  writeFileSync(join(folder, 'sessions/option-1/attempt-1/output.log'), 'hello\u001b[31m red\u001b[0m\n');
  createLedger(folder, history(...facts));
}

/** A person's command in this process, with a captured terminal that is none. */
async function hma(
  words: readonly string[],
  given: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
) {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough(), stdin: new PassThrough() };
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  streams.stdout.on('data', (bytes: Buffer) => out.push(bytes));
  streams.stderr.on('data', (bytes: Buffer) => err.push(bytes));
  const desk = {
    ...streams,
    cwd: given.cwd ?? workspace,
    env: { HMA_HOME: home, PATH: process.env['PATH'], ...given.env },
    clock: systemClock,
  } as unknown as Desk;
  const exit = await runCli(desk, words);
  return { exit, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() };
}

test('a workspace is found from any folder inside it; outside of one there is none', () => {
  expect(findWorkspace(join(workspace, 'src/deep'))).toBe(workspace);
  expect(findWorkspace(root)).toBeUndefined();
});

test('the latest run is meant, or the one whose beginning is named', () => {
  const find = (run?: string) => findRun({ cwd: join(workspace, 'src'), env: { HMA_HOME: home }, run });
  expect(find()).toMatchObject({ ok: true, value: { run: '20261130-181123-ab12', workspace } });
  expect(find('20261130-17')).toMatchObject({ ok: true, value: { run: '20261130-171123-ab00' } });
  expect(find('20261130')).toMatchObject({ ok: false, refusal: { exit: 'notFound', code: 'ambiguous_run' } });
  expect(find('2027')).toMatchObject({ ok: false, refusal: { code: 'no_run' } });
  expect(findRun({ cwd: root, env: { HMA_HOME: home } })).toMatchObject({
    ok: false,
    refusal: { code: 'no_workspace', fix: expect.stringContaining('hma list --all') },
  });
});

test('HMA_HOME is the only state folder where it is set; else the contract is a hint, followed only to a private folder outside', () => {
  const own = join(root, 'named');
  const shared = join(root, 'shared');
  const inside = join(workspace, 'planted');
  for (const [folder, mode] of [
    [own, 0o700],
    [shared, 0o755],
    [inside, 0o700],
  ] as const) {
    mkdirSync(folder);
    chmodSync(folder, mode);
    writeFileSync(join(workspace, 'hma.yaml'), `objective: x\nstate: ${folder}\n`);
    expect(stateHomes({ HMA_HOME: home }, workspace)).toEqual([home]);
    expect(stateHomes({ XDG_STATE_HOME: '/s' }, workspace)).toEqual(folder === own ? ['/s/hma', own] : ['/s/hma']);
  }
  writeFileSync(join(workspace, 'hma.yaml'), 'objective: x\n');
});

test('status, candidates and list of runs without a controller, in words', async () => {
  const status = await hma(['status'], { env: { COLUMNS: '100' } });
  expect(status).toMatchObject({ exit: 0, err: '' });
  expect(status.out).toContain('houses  run 20261130-181123-ab12\n  finished');
  expect((await hma(['status', '--run', '20261130-17'])).out).toContain(
    'not running: no controller looks after this run; go on with hma resume',
  );
  expect(
    (await hma(['candidates', '--sort', 'score'])).out
      .split('\n')
      .slice(1, 4)
      .map((line) => line.slice(0, 2)),
  ).toEqual(['e5', 'e6', 'e3']);
  expect((await hma(['list'])).out).toMatch(
    /^run .*\n20261130-181123-ab12 .*finished.*\n20261130-171123-ab00 .*not running/,
  );
  expect((await hma(['list', '--all'], { cwd: root })).out).toContain('houses  /work/houses');
});

test('prompt tells beforehand what agents will be told, afterwards what a session was told, and gives the template', async () => {
  const folder = join(root, 'previewed');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'hma.yaml'),
    'objective: Lower the loss.\ncandidate: model.json\nevaluate: ["true"]\nagents: {A: {name: a, command: ["true"]}, B: {name: b, command: ["true"]}}\n',
  );
  writeFileSync(join(folder, 'model.json'), '{}');
  const first = await hma(['prompt'], { cwd: folder });
  expect(first).toMatchObject({ exit: 0, err: expect.stringContaining('a preview') });
  expect(first.out).toMatch(/^Lower the loss\.\n[^]*about 345 minutes[^]*No candidate has been accepted yet/);
  expect((await hma(['prompt', '--review'], { cwd: folder })).out).toContain('hma nominate ID');
  expect((await hma(['prompt', '--template'], { cwd: folder })).out).toContain('{{objective}}');
  writeFileSync(join(folder, 'hma.yaml'), 'objective: 3\n');
  expect(await hma(['prompt'], { cwd: folder })).toMatchObject({ exit: exitCodes.contract, out: '' });

  const shown = join(runFolderOf(home, workspace, '20261130-181123-ab12'), 'sessions/option-1/shown');
  mkdirSync(shown);
  writeFileSync(join(shown, 'prompt.md'), 'what was sent\n');
  expect(await hma(['prompt', '--session', '1'])).toMatchObject({ exit: 0, out: 'what was sent\n', err: '' });
  expect((await hma(['prompt', '--session', '9'])).err).toContain('has no prompt of option 9');
  expect((await hma(['prompt', '--session', 'last'])).err).toContain('takes an option');
});

test('init writes a checked contract for a folder, says what it guessed, and never touches one that is there', async () => {
  const folder = join(root, 'fresh');
  mkdirSync(join(folder, 'solution'), { recursive: true });
  writeFileSync(join(folder, 'evaluate.py'), 'print(accuracy)\n');
  writeFileSync(join(folder, 'solution/model.py'), '');
  expect((await hma(['init', '--agents', 'claude-code,clod'], { cwd: folder })).err).toContain('"clod"');
  expect((await hma(['init', '--total', 'long'], { cwd: folder })).exit).toBe(exitCodes.usage);
  const made = await hma(['init', '--agents', 'claude-code,codex', '--total', '12h', '--json'], { cwd: folder });
  expect(made).toMatchObject({ exit: 0, err: '' });
  expect(initOutput.parse(JSON.parse(made.out))).toEqual({
    file: join(folder, 'hma.yaml'),
    evaluate: ['python3', 'evaluate.py'],
    metric: { name: 'accuracy', direction: 'maximize' },
    candidate: ['solution/**'],
    agents: { A: 'claude-code', B: 'codex' },
  });
  const text = readFileSync(join(folder, 'hma.yaml'), 'utf8');
  const loaded = await loadContract({ workspace: folder, text, given: { wall: 0, adapters: Object.keys(adapters) } });
  expect(loaded).toMatchObject({ ok: true, value: { warnings: [], contract: { budgets: { totalMs: 43_200_000 } } } });
  expect(await hma(['init'], { cwd: folder })).toMatchObject({ exit: exitCodes.refused, out: '' });
  expect(readFileSync(join(folder, 'hma.yaml'), 'utf8')).toBe(text);

  const bare = join(root, 'bare');
  mkdirSync(bare);
  const words = await hma(['init'], { cwd: bare, env: { PATH: '/nowhere' } });
  expect(words.out).toMatch(/none found[^]*nothing found[^]*Claude Code \(not installed here\) and Codex/);
});

test('show tells all of one experiment, diff what separates two; grades are hidden until they are revealed', async () => {
  const shown = await hma(['show', 'e5', '--json']);
  expect(showOutput.parse(JSON.parse(shown.out))).toMatchObject({
    state: 'accepted',
    score: 0.3,
    grade: null,
    marks: ['final', 'record', 'nominated'],
    author: 'B',
    option: 2,
  });
  expect((await hma(['show', 'e5'])).out).toMatch(/^e5  accepted · final, record, nominated[^]*hidden; hma reveal/);
  expect((await hma(['show', 'e2'])).out).toMatch(/^e2  rejected: /);
  expect(await hma(['show', 'e99'])).toMatchObject({ exit: exitCodes.notFound, out: '' });
  expect((await hma(['candidates', '--json'])).out).not.toContain('0.33');
  expect((await hma(['candidates'])).out).toMatch(/e5 .*hidden/);
  expect(await hma(['diff', 'e5', 'e98'])).toMatchObject({ exit: exitCodes.notFound });
});

test('remove takes a run that is over and nothing else, gc leaves alone what goes on', async () => {
  layRun('20261130-161123-ab99', wholeRun());
  const runs = (text: string): string[] => text.match(/\d{8}-\d{6}-\w{4}/g) ?? [];
  expect(await hma(['remove', '20261130-17', '--yes'])).toMatchObject({
    exit: exitCodes.refused,
    err: expect.stringContaining('hma stop --run 20261130-171123-ab00'),
  });
  expect((await hma(['remove', '20261130-16'])).err).toContain('Add --yes');
  const collected = await hma(['gc', '--json']);
  expect(gcOutput.parse(JSON.parse(collected.out)).runs).toMatchObject([
    { run: '20261130-181123-ab12', kind: 'collected' },
    { run: '20261130-171123-ab00', kind: 'left' },
    { run: '20261130-161123-ab99', kind: 'collected' },
  ]);
  expect(await hma(['remove', '20261130-16', '--yes'])).toMatchObject({ exit: 0, err: '' });
  expect(runs((await hma(['list'])).out)).toEqual(['20261130-181123-ab12', '20261130-171123-ab00']);
  expect(
    readdirSync(join(home, 'workspaces')).flatMap((name) => readdirSync(join(home, 'workspaces', name, 'runs'))),
  ).toHaveLength(2);
});

test('--json prints what the schemas say', async () => {
  const json = async (...words: string[]): Promise<unknown> => JSON.parse((await hma([...words, '--json'])).out);
  const status = statusOutput.parse(await json('status'));
  expect(status).toMatchObject({
    phase: 'finished',
    live: false,
    final: { candidate: 'e5', by: 'reviewer' },
    handoffs: { count: 2, p50: 505 },
    time: { budget: 600_000 },
  });
  expect(JSON.stringify(status)).not.toContain('tokenHash');
  expect(
    candidatesOutput.parse(await json('candidates', '--sort', 'option')).candidates.map(({ id, marks }) => [id, marks]),
  ).toEqual([
    ['e1', []],
    ['e3', []],
    ['e4', []],
    ['e5', ['final', 'record']],
    ['e6', ['standing']],
  ]);
  expect(listOutput.parse(await json('list')).runs.map(({ run, phase, live }) => ({ run, phase, live }))).toEqual([
    { run: '20261130-181123-ab12', phase: 'finished', live: false },
    { run: '20261130-171123-ab00', phase: 'exploring', live: false },
  ]);
  const events = (await hma(['log', '--events'])).out
    .trimEnd()
    .split('\n')
    .map((line) => eventLine.parse(JSON.parse(line)));
  expect(events.map(({ seq }) => seq)).toEqual(wholeRun().map((_, index) => index + 1));
});

test('a session’s output: plain by default, its bytes with --raw', async () => {
  expect((await hma(['log', '--session', '1'])).out).toBe('hello red\n');
  expect((await hma(['log', '--session', '1', '--raw'])).out).toBe('hello\u001b[31m red\u001b[0m\n');
  expect(await hma(['log', '--session', '9'])).toMatchObject({ exit: 3, err: expect.stringContaining('no option 9') });
  expect(await hma(['log', '--session', '../1'])).toMatchObject({ exit: 64 });
  expect(JSON.parse((await hma(['log', '--session', '1', '--json'])).out)).toMatchObject({
    session: 1,
    attempts: [{ attempt: 1, outputBytes: 19 }],
  });
});

test('a session of a harness that tells events is put into words, and what it used stands beside its candidates', async () => {
  const run = '20261130-191123-ab01';
  const agent = { name: 'ada', adapter: 'claude-code' };
  const [, ...rest] = wholeRun();
  const usage = { uncachedInput: 1000, cachedInput: 0, cacheWrite: 0, output: 500, reasoning: 0, toolCalls: 1 };
  const responses = [{ id: 'm1', at: 1, model: 'claude-opus-5', ...usage }];
  const said = rest.findIndex(([, { type }]) => type === 'attempt.started') + 1;
  layRun(run, [
    [0, opened({ terms: { agents: { A: agent, B: { name: 'bob', adapter: 'command' } } } })],
    ...rest.slice(0, said),
    [
      rest[said - 1]?.[0] ?? 0,
      { type: 'attempt.responded', data: { session: { kind: 'option', number: 1 }, attempt: 1, responses } },
    ],
    ...rest.slice(said),
  ]);
  const content = [
    { type: 'text', text: 'I look first.' },
    { type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls -l' } },
  ];
  const line = JSON.stringify({ type: 'assistant', message: { id: 'm1', model: 'claude-opus-5', content } });
  writeFileSync(join(runFolderOf(home, workspace, run), 'sessions/option-1/attempt-1/output.log'), `${line}\n`);
  expect((await hma(['log', '--run', run, '--session', '1'])).out).toBe('I look first.\n$ ls -l\n');
  expect((await hma(['log', '--run', run, '--session', '1', '--raw'])).out).toBe(`${line}\n`);
  const shown = await hma(['show', 'e1', '--run', run]);
  expect(shown.out).toContain('session    claude-opus-5 · 1 response · 1.00k in · 500 out · $0.0175');
  expect((await hma(['log', '--run', run])).out).toMatch(/option 1 ended: .* · 1\.50k tokens/);
});

test('a broken ledger is told with its place, and what is before it is shown', async () => {
  const run = '20261130-161123-abff';
  layRun(run, wholeRun());
  const file = join(runFolderOf(home, workspace, run), 'ledger-1.jsonl');
  const bytes = readFileSync(file);
  bytes[bytes.length - 200] = 0x7e;
  writeFileSync(file, bytes);
  const said = await hma(['status', '--run', run]);
  expect(said).toMatchObject({ exit: 0, err: expect.stringMatching(/the ledger is broken at .*ledger-1\.jsonl:\d+/) });
  expect(said.out).toContain('e5');
  rmSync(runFolderOf(home, workspace, run), { recursive: true });
});

test.each([
  [['pause'], 2, 'only its selection can still be changed'],
  [['stop', '--yes'], 2, 'only its selection can still be changed'],
  [['stop', '--run', '20261130-17'], 64, 'nobody can answer here'],
  [['resume'], 2, 'is over'],
  [['select', 'e5'], 64, 'a selection needs a reason'],
  [['select', '--reason', 'x'], 64, 'needs a candidate'],
  [['select', 'e5', '--clear', '--reason', 'x'], 64, '--clear takes no candidate'],
  [['budget'], 64, 'nothing to change'],
  [['status', '--run', 'nope'], 3, 'no run "nope"'],
  [['run'], 4, 'nothing was started'],
  [['submit'], 64, "works inside an agent's session only"],
  [['candidates', '--sort', 'beauty'], 64, 'Allowed choices are'],
  [['statsu'], 64, 'Did you mean status'],
  [['status', '--frobnicate'], 64, 'unknown option'],
  [['watch', '--tail', 'x'], 64, 'a whole number is needed'],
])('%j fails with exit code %i and says what to do', async (words, exit, expected) => {
  const said = await hma(words);
  expect(said.err).toContain(expected);
  expect(said.err).not.toMatch(/\n\s+at /);
  expect(said.exit).toBe(exit);
});

test('a failure with --json is an object on stdout', async () => {
  const said = await hma(['status', '--run', 'nope', '--json']);
  expect(errorOutput.parse(JSON.parse(said.out)).error.code).toBe('no_run');
});

test('budgets as people write them', () => {
  const wish = (options: Parameters<typeof budgetWish>[0]) => budgetWish(options, 3_600_000);
  expect(wish({ total: '8h', review: '20m', experiments: 'none', until: 'none' })).toEqual({
    ok: true,
    value: { kind: 'budget', totalMs: 28_800_000, reviewMs: 1_200_000, experiments: null, until: null },
  });
  expect(wish({ tokens: '5M', cost: '12.5' })).toEqual({
    ok: true,
    value: { kind: 'budget', tokens: 5_000_000, cost: 12.5 },
  });
  expect(wish({ tokens: 'none', cost: 'none' })).toEqual({
    ok: true,
    value: { kind: 'budget', tokens: null, cost: null },
  });
  expect(wish({ add: '1h30m', experiments: '12' })).toEqual({
    ok: true,
    value: { kind: 'budget', totalMs: 9_000_000, experiments: 12 },
  });
  expect(wish({ until: '2026-12-01T18:00Z' })).toEqual({
    ok: true,
    value: { kind: 'budget', until: Date.parse('2026-12-01T18:00Z') },
  });
  for (const bad of [
    { total: 'soon' },
    { add: '-1h' },
    { experiments: '-3' },
    { tokens: '5 MB' },
    { tokens: '0' },
    { cost: 'much' },
    { cost: '0' },
    { experiments: '0' },
    { experiments: 'many' },
    { until: 'tomorrow' },
    { total: '8h', add: '1h' },
    {},
  ])
    expect(wish(bad)).toMatchObject({ ok: false, refusal: { exit: 'usage' } });
});

test('candidates in four orders; equal ones stay in order, ungraded ones come last', () => {
  const state = stateOf(history(...wholeRun()));
  const ids = (order: Parameters<typeof sortCandidates>[1]) => sortCandidates(state, order).map(({ id }) => id);
  expect(ids('order')).toEqual(['e1', 'e3', 'e4', 'e5', 'e6']);
  expect(ids('score')).toEqual(['e5', 'e6', 'e3', 'e4', 'e1']);
  expect(ids('grade')).toEqual(['e1', 'e3', 'e4', 'e5', 'e6']); // not before they are revealed
  const revealed = { ...state, gradesRevealed: true };
  expect(sortCandidates(revealed, 'grade').map(({ id }) => id)).toEqual(['e5', 'e1', 'e3', 'e4', 'e6']);
});

test('Ctrl-C asks; d detaches, s stops, g goes on, a second Ctrl-C detaches', () => {
  const answers = (key: string | null, asks = true): string[] => {
    const said: string[] = [];
    const stdin = Object.assign(new PassThrough(), {
      isTTY: true,
      setRawMode: (on: boolean) => said.push(on ? 'raw' : 'cooked'),
    });
    const desk = { stdin, stdout: new PassThrough() } as unknown as Desk;
    const interrupts = interruptions(desk, {
      asks,
      onQuestion: (text) => said.push(text === null ? 'answered' : 'asked'),
      onLeave: () => said.push('left'),
      onStop: () => said.push('stopped'),
    });
    process.emit('SIGINT');
    if (key === 'SIGINT') process.emit('SIGINT');
    else if (key !== null) stdin.emit('data', Buffer.from(key));
    interrupts[Symbol.dispose]();
    return said;
  };
  expect(answers('d')).toEqual(['raw', 'asked', 'cooked', 'answered', 'left']);
  expect(answers('s')).toEqual(['raw', 'asked', 'cooked', 'answered', 'stopped']);
  expect(answers('g')).toEqual(['raw', 'asked', 'cooked', 'answered']);
  expect(answers('\u0003')).toEqual(['raw', 'asked', 'cooked', 'answered', 'left']);
  expect(answers('SIGINT')).toEqual(['raw', 'asked', 'cooked', 'answered', 'left']);
  expect(answers('x')).toEqual(['raw', 'asked', 'cooked', 'answered']);
  expect(answers(null, false)).toEqual(['left']);
});

test('docs/commands.md is current (node test/cli/writeCommandDocs.ts)', () => {
  const program = commandLine(processDesk(), () => async () => undefined);
  expect(readFileSync(join(import.meta.dirname, '../../docs/commands.md'), 'utf8')).toBe(commandDocs(program));
});

test('docs/json.md is current (node test/cli/writeJsonDocs.ts)', () => {
  expect(readFileSync(join(import.meta.dirname, '../../docs/json.md'), 'utf8')).toBe(jsonDocs());
});

test('the version is the package’s', () => {
  const { version: packaged } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(version).toBe(packaged);
});
