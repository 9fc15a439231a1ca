import { spawn, type ChildProcess } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { agentRequests, receiptSeen, sessionExit, type Receipt } from '../../src/protocol/agent.ts';
import { runSession } from '../../src/session/main.ts';
import { AgentServer } from './agentServer.ts';

const remaining = { timeMs: 3_600_000, experiments: 7 };
const accepted: Receipt = { id: 'e3', outcome: 'accepted', score: 0.125, improved: true, remaining };
const pending: Receipt = { id: 'e3', outcome: 'pending', place: 1, remaining };
const rejected: Receipt = { id: 'e3', outcome: 'rejected', code: 'invalid', reason: 'no predictions.csv', remaining };

/** Runs a session command in this process and gives back all that it said. */
async function hma(
  words: readonly string[],
  server: AgentServer | null,
  given: { readonly patienceMs?: number; readonly env?: Record<string, string>; readonly closedPipe?: boolean } = {},
) {
  const out: string[] = [];
  const err: string[] = [];
  const exit = await runSession({
    words,
    env: given.env ?? { HMA_SOCKET: server?.path, HMA_TOKEN: 'secret' },
    patienceMs: given.patienceMs ?? 10_000,
    output: {
      print: async (text) => {
        if (given.closedPipe) return false;
        out.push(typeof text === 'string' ? text : Buffer.from(text).toString());
        return true;
      },
      remark: async (text) => void err.push(text),
    },
  });
  return { exit, out: out.join(''), err: err.join(''), pieces: out };
}

const serve = (handlers: ConstructorParameters<typeof AgentServer>[0]) => new AgentServer(handlers).listen();

test('submit prints the id, then the receipt, then says that it was seen', async () => {
  await using server = await serve({
    [agentRequests.submit]: () => ({ id: 'e3' }),
    [agentRequests.result]: () => accepted,
  });
  const said = await hma(['submit', '--note', 'deeper', '--score=0.13', '--json'], server);
  expect(said).toMatchObject({ exit: 0, err: '', pieces: ['{"id":"e3"}\n', `${JSON.stringify(accepted)}\n`] });
  await server.called(receiptSeen);
  expect(server.calls).toEqual([
    {
      method: agentRequests.submit,
      params: {
        request: expect.stringMatching(/^[\w-]{12}$/) as string,
        note: 'deeper',
        reported: 0.13,
        token: 'secret',
      },
    },
    { method: agentRequests.result, params: { id: 'e3', waitMs: 8000, token: 'secret' } },
    { method: 'agent/seen', params: { token: 'secret', id: 'e3' } },
  ]);
});

test('in words', async () => {
  await using server = await serve({
    [agentRequests.submit]: () => ({ id: 'e3' }),
    [agentRequests.result]: () => accepted,
  });
  const said = await hma(['submit'], server);
  expect(said.out).toBe(
    'e3\ne3: accepted, score 0.125 (a new record). Left: 1 h 00 min, 7 more experiments in the run.\n',
  );
});

test('a rejected experiment exits 2 and was seen too; a pending one exits 3 and was not', async () => {
  let receipt: Receipt = rejected;
  await using server = await serve({ [agentRequests.result]: () => receipt });
  expect(await hma(['result', 'e3'], server)).toMatchObject({
    exit: sessionExit.rejected,
    out: expect.stringContaining('rejected (invalid): no predictions.csv'),
  });
  await server.called(receiptSeen);
  receipt = pending;
  expect(await hma(['result', 'e3', '--wait', '0.01'], server)).toMatchObject({
    exit: sessionExit.pending,
    out: 'e3: received, evaluating; ask with: hma result e3\n',
  });
  receipt = accepted;
  await hma(['result', 'e4'], server);
  await server.called(receiptSeen, 2);
  expect(server.seen).toEqual(['e3', 'e4']);
});

test('a receipt that nobody could read was not seen', async () => {
  await using server = await serve({ [agentRequests.result]: () => accepted });
  expect(await hma(['result', 'e3'], server, { closedPipe: true })).toMatchObject({ exit: 0 });
  await hma(['result', 'e4'], server);
  await server.called(receiptSeen);
  expect(server.seen).toEqual(['e4']);
});

test('a refusal of the gate exits 4 with its code', async () => {
  await using server = await serve({
    [agentRequests.submit]: () => ({
      refused: { code: 'cap_reached', reason: 'this session takes no more experiments' },
    }),
  });
  expect(await hma(['submit'], server)).toMatchObject({
    exit: sessionExit.refused,
    out: '',
    err: 'hma: refused (cap_reached): this session takes no more experiments\n',
  });
  expect(await hma(['submit', '--json'], server)).toMatchObject({
    exit: sessionExit.refused,
    out: '{"refused":{"code":"cap_reached","reason":"this session takes no more experiments"}}\n',
  });
});

test('a reply lost in mid-submit is read back by asking again', async () => {
  let times = 0;
  await using server = await serve({
    [agentRequests.submit]: (_, self) => {
      times += 1;
      if (times === 1) self.drop();
      return { id: 'e3' };
    },
    [agentRequests.result]: () => accepted,
  });
  const said = await hma(['submit', '--json'], server);
  expect(said).toMatchObject({ exit: 0, pieces: ['{"id":"e3"}\n', `${JSON.stringify(accepted)}\n`] });
  expect(times).toBe(2);
});

test('a controller that restarts while the verdict is waited for is found again; the id is printed once', async () => {
  let asked = 0;
  await using server = await serve({
    [agentRequests.submit]: () => ({ id: 'e3' }),
    [agentRequests.result]: () => ((asked += 1) === 1 ? new Promise(() => undefined) : accepted),
  });
  const saying = hma(['submit', '--json', '--wait', '20'], server);
  await server.called(agentRequests.result);
  await server.stop();
  await server.listen();
  expect(await saying).toMatchObject({ exit: 0, pieces: ['{"id":"e3"}\n', `${JSON.stringify(accepted)}\n`] });
  await server.called(receiptSeen);
  expect(server.calls.map((call) => call.method)).toEqual([
    agentRequests.submit,
    agentRequests.result,
    agentRequests.result,
    'agent/seen',
  ]);
});

test('a controller that starts only later is waited for', async () => {
  await using server = new AgentServer({ [agentRequests.result]: () => accepted });
  const saying = hma(['result', 'e3', '--json'], server);
  await server.listen();
  expect(await saying).toMatchObject({ exit: 0 });
});

test('a controller that stays away ends in exit 5 and words that say what to do', async () => {
  await using server = new AgentServer({});
  const said = await hma(['submit'], server, { patienceMs: 2500 });
  expect(said).toMatchObject({ exit: sessionExit.unreachable, out: '' });
  expect(said.err).toContain('not answering');
  expect(said.err).toContain('run the same command again later');
});

test('outside of a session it says so at once', async () => {
  expect(await hma(['submit'], null, { env: {} })).toMatchObject({
    exit: 5,
    err: expect.stringContaining('HMA_SOCKET is not set'),
  });
  expect(await hma(['submit'], null, { env: { HMA_SOCKET: '/x' } })).toMatchObject({
    exit: 5,
    err: expect.stringContaining('HMA_TOKEN is not set'),
  });
});

test('an error of the controller exits 1 with its words', async () => {
  await using server = await serve({
    [agentRequests.status]: () => {
      throw new Error('the ledger is sealed');
    },
  });
  expect(await hma(['status'], server)).toMatchObject({
    exit: sessionExit.failed,
    err: expect.stringContaining('the ledger is sealed'),
  });
});

test.each([
  [['submit', '--nots', 'x'], 'unknown option "--nots"; known here: --note, --score, --wait, --json'],
  [['submit', '-n', 'x'], 'unknown option "-n"'],
  [['submit', '--score', 'nan'], '--score takes a finite decimal number'],
  [['submit', '--score', '1e999'], '--score takes a finite decimal number'],
  [['submit', '--score', '0x10'], '--score takes a finite decimal number'],
  [['submit', '--score', ''], '--score takes a finite decimal number'],
  [['submit', '--wait', '-1'], '--wait takes seconds from 0'],
  [['submit', '--wait', 'soon'], '--wait takes seconds from 0'],
  [['submit', '--note'], '--note needs a value after it'],
  [['submit', '--note', 'a', '--note', 'b'], '--note is given twice'],
  [['submit', '--json=1'], '--json takes no value'],
  [['submit', '--note', 'x'.repeat(4001)], '--note has 4001 characters; at most 4000'],
  [['submit', 'file.csv'], 'unexpected "file.csv"'],
  [['result'], 'something is missing'],
  [['nominate', 'e3'], '--reason must say'],
  [['nominate', 'e3', '--reason', '  '], '--reason must say'],
  [['archive', 'put'], 'unexpected "put"'],
  [['archive', 'get'], 'name a candidate'],
  [['frobnicate'], 'there is no command "frobnicate"'],
])('%j is wrong usage: nothing is sent', async (words, expected) => {
  await using server = await serve({});
  const said = await hma(words, server);
  expect(said).toMatchObject({ exit: sessionExit.usage, out: '' });
  expect(said.err).toContain(expected);
  expect(server.calls).toEqual([]);
});

test('negative scores and words after -- are values', async () => {
  await using server = await serve({
    [agentRequests.submit]: () => ({ id: 'e1' }),
    [agentRequests.result]: () => accepted,
  });
  await hma(['submit', '--score', '-1.5e-3', '--note', '--json'], server);
  expect(server.calls[0]?.params).toEqual({
    request: expect.any(String) as string,
    reported: -0.0015,
    note: '--json',
    token: 'secret',
  });
});

test('help needs no session and names the exit codes', async () => {
  const said = await hma(['submit', '--help'], null, { env: {} });
  expect(said.exit).toBe(0);
  expect(said.out).toContain('Exit codes: 0 accepted');
});

test('status never says more than it was told', async () => {
  const told = {
    role: 'explore',
    agent: 'ada',
    option: 3,
    feedback: 'blind',
    paused: false,
    accepted: 2,
    remaining: { timeMs: 125_000, experiments: null },
    lastSafeSubmitMs: 119_000,
    standing: 'e5',
    pending: ['e7'],
  };
  await using server = await serve({ [agentRequests.status]: () => told });
  expect((await hma(['status'], server)).out).toBe(
    'You are ada, in session 3.\nLeft: 2 min.\nSubmit within 119 s to be judged in time.\nAccepted in this session: 2. Being judged: e7.\nStanding candidate (the latest): e5. All: hma archive\n',
  );
  expect((await hma(['status', '--json'], server)).out).toBe(`${JSON.stringify(told)}\n`);
});

test('the archive as a table, and control characters of notes kept off the terminal', async () => {
  const candidate = {
    id: 'e1',
    order: 1,
    author: 'peer',
    option: 1,
    score: 0.5,
    reported: null,
    note: 'a\u001b[31m\nb',
    files: 2,
    bytes: 30,
  };
  await using server = await serve({
    [agentRequests.archive]: () => ({
      metric: { name: 'rmse', direction: 'minimize' },
      feedback: 'score',
      standing: 'e1',
      candidates: [candidate],
    }),
  });
  expect((await hma(['archive'], server)).out).toBe(
    'id   by    session  rmse  reported  files  note\ne1*  peer  1        0.5             2      a [31m b\n* standing (the latest); rmse: lower is better\n',
  );
});

const archivedFiles: Record<string, { kind: 'file' | 'executable' | 'link'; text: string }> = {
  'solution/params.json': { kind: 'file', text: '{"depth":3}\n' },
  'solution/train.sh': { kind: 'executable', text: '#!/bin/sh\n' },
  latest: { kind: 'link', text: 'solution/params.json' },
};

const serveFiles = () =>
  serve({
    [agentRequests.file]: ({ path }) => {
      if (path === undefined)
        return {
          entries: Object.entries(archivedFiles).map(([name, { kind, text }]) => ({
            path: name,
            kind,
            bytes: text.length,
          })),
        };
      const file = archivedFiles[path as string];
      return file
        ? { path, kind: file.kind, base64: Buffer.from(file.text).toString('base64') }
        : { refused: { code: 'unknown', reason: `e1 has no ${path as string}` } };
    },
  });

test('a file of a candidate comes out as its bytes; a folder as its listing', async () => {
  await using server = await serveFiles();
  expect((await hma(['archive', 'get', 'e1', 'solution/params.json'], server)).out).toBe('{"depth":3}\n');
  expect((await hma(['archive', 'get', 'e1', 'solution'], server)).out).toBe(
    '          12  solution/params.json\n          10  solution/train.sh *\n',
  );
  expect((await hma(['archive', 'get', 'e1'], server)).out).toContain('latest @');
  expect(await hma(['archive', 'get', 'e1', 'nothing'], server)).toMatchObject({
    exit: 4,
    err: 'hma: refused (unknown): e1 has no nothing\n',
  });
});

test('--out writes files as they were archived, and never through a link that lies there', async () => {
  await using server = await serveFiles();
  const out = join(server.folder, 'out');
  const outside = join(server.folder, 'outside');
  mkdirSync(join(out, 'solution'), { recursive: true });
  writeFileSync(outside, 'mine');
  symlinkSync(outside, join(out, 'solution/params.json'));
  expect(await hma(['archive', 'get', 'e1', '--out', out], server)).toMatchObject({ exit: 0 });
  expect(readFileSync(join(out, 'solution/params.json'), 'utf8')).toBe('{"depth":3}\n');
  expect(readFileSync(outside, 'utf8')).toBe('mine');
  expect(lstatSync(join(out, 'solution/train.sh')).mode & 0o111).toBe(0o111);
  expect(readlinkSync(join(out, 'latest'))).toBe('solution/params.json');
  await hma(['archive', 'get', 'e1', 'solution/params.json', '--out', `${server.folder}/new/`], server);
  expect(readFileSync(join(server.folder, 'new/params.json'), 'utf8')).toBe('{"depth":3}\n');
});

test('a candidate whose paths would leave the folder is not written', async () => {
  await using server = await serve({
    [agentRequests.file]: () => ({ entries: [{ path: '../evil', kind: 'file', bytes: 1 }] }),
  });
  expect(await hma(['archive', 'get', 'e1', '--out', server.folder], server)).toMatchObject({
    exit: 4,
    err: expect.stringContaining('would leave'),
  });
});

test('a large file arrives whole', async () => {
  const bytes = Buffer.alloc(8 * 1024 * 1024, 'abcdefg');
  await using server = await serve({
    [agentRequests.file]: () => ({ path: 'big', kind: 'file', base64: bytes.toString('base64') }),
  });
  await hma(['archive', 'get', 'e1', 'big', '--out', join(server.folder, 'big')], server);
  expect(readFileSync(join(server.folder, 'big')).equals(bytes)).toBe(true);
});

test('nominate and validate', async () => {
  await using server = await serve({
    [agentRequests.nominate]: ({ candidate }) =>
      candidate === 'e3' ? { nominated: 'e3' } : { refused: { code: 'invalid', reason: 'there is no candidate "e9"' } },
    [agentRequests.validate]: () => ({ outcome: 'invalid', text: 'row 3 is empty\n' }),
  });
  expect(await hma(['nominate', 'e3', '--reason', 'best on both'], server)).toMatchObject({
    exit: 0,
    out: 'nominated e3; the last valid nomination stands\n',
  });
  expect(await hma(['nominate', 'e9', '--reason', 'x'], server)).toMatchObject({ exit: 4 });
  expect(await hma(['validate'], server)).toMatchObject({ exit: 2, out: 'invalid: row 3 is empty\n' });
});

/** The real program in a process of its own. */
const program = (
  server: AgentServer,
  words: readonly string[],
  stdio: 'pipe' | readonly ['ignore', number, 'pipe'] = 'pipe',
): ChildProcess =>
  spawn(process.execPath, [join(import.meta.dirname, '../../src/session.ts'), ...words], {
    cwd: '/',
    env: { HMA_SOCKET: server.path, HMA_TOKEN: 'secret' },
    stdio: typeof stdio === 'string' ? stdio : [...stdio],
  });
const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once('close', (code) => resolve(code)));

test('as a process: a reader that closes the pipe early is no crash', async () => {
  await using server = await serve({
    [agentRequests.submit]: () => ({ id: 'e3' }),
    [agentRequests.result]: async () => {
      child.stdout?.destroy();
      return accepted;
    },
  });
  const child = program(server, ['submit']);
  let err = '';
  child.stderr?.on('data', (bytes: Buffer) => (err += bytes.toString()));
  expect({ exit: await exitOf(child), err }).toEqual({ exit: 0, err: '' });
});

test('as a process: killed in mid-wait, it leaves the connection; asking again gives the receipt', async () => {
  let first = true;
  await using server = await serve({
    [agentRequests.submit]: () => ({ id: 'e3' }),
    [agentRequests.result]: () => {
      if (!first) return accepted;
      first = false;
      return new Promise(() => undefined);
    },
  });
  const child = program(server, ['submit']);
  await server.called(agentRequests.result);
  child.kill('SIGKILL');
  await exitOf(child);
  const again = program(server, ['submit', '--json']);
  let out = '';
  again.stdout?.on('data', (bytes: Buffer) => (out += bytes.toString()));
  expect({ exit: await exitOf(again), out }).toEqual({ exit: 0, out: `{"id":"e3"}\n${JSON.stringify(accepted)}\n` });
});

test('it loads nothing but Node’s own modules and this repository’s light files', () => {
  const files = readdirSync(join(import.meta.dirname, '../../src/session')).map((name) => `../../src/session/${name}`);
  const imported = [...files, '../../src/session.ts'].flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    return [...text.matchAll(/^import (?!type).* from '([^']+)';$/gm)].map((match) => match[1] as string);
  });
  expect(imported.length).toBeGreaterThan(10);
  expect(imported.filter((name) => !/^(node:|\.\/|\.\.\/(protocol\/agent|base\/oneLine)\.ts$)/.test(name))).toEqual([]);
});
