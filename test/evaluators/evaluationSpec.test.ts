import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareCheckout, type Checkout } from '../../src/evaluators/checkout.ts';
import { evaluationSpec, type EvaluationRequest, type PreparedProgram } from '../../src/evaluators/evaluationSpec.ts';
import { protectFiles } from '../../src/evaluators/protectedFiles.ts';
import { readVerdict } from '../../src/evaluators/readVerdict.ts';
import { aContract } from './aContract.ts';
import { aFolder, write } from './folders.ts';

const evaluator = `
import fs from 'node:fs';
const { HMA_CANDIDATE, HMA_RESULT } = process.env;
const rows = fs.readFileSync(HMA_CANDIDATE + '/predictions.csv', 'utf8').trim().split('\\n').length;
const major = Number(process.versions.node.split('.')[0]);
fs.writeFileSync(HMA_RESULT, JSON.stringify(major < 22 ? { invalid: 'old node' } : { score: rows }));
fs.writeFileSync(1, JSON.stringify({ cwd: process.cwd(), env: process.env }));
`;

/** A real workspace, its protected files and a checkout of a candidate. */
async function setup(): Promise<{ workspace: string; checkout: Checkout; root: string }> {
  const root = realpathSync(aFolder());
  const workspace = write(join(root, 'w'), {
    'hma.yaml': '',
    'evaluate.mjs': evaluator,
    'eval/run.sh': '#!/bin/sh\nexec "$1" ../evaluate.mjs\n',
  });
  chmodSync(join(workspace, 'eval', 'run.sh'), 0o755);
  const stored = await protectFiles({
    workspace,
    patterns: ['hma.yaml', 'evaluate.mjs', 'eval'],
    store: join(root, 'state', 'store'),
  });
  if (!stored.ok) throw new Error(stored.refusal.detail);
  const restoreCandidate = async (into: string) => {
    write(into, { 'predictions.csv': '1\n2\n3\n' });
    symlinkSync('/usr', join(into, 'escape'));
  };
  const prepared = await prepareCheckout({
    folder: join(root, 'state', 'e1'),
    restoreCandidate,
    protectedFiles: stored.value,
    workspace,
  });
  if (!prepared.ok) throw new Error(prepared.refusal.detail);
  return { workspace, checkout: prepared.value, root };
}

const requestOf = (
  given: { workspace: string; checkout: Checkout; root: string },
  parts: Partial<EvaluationRequest> = {},
): EvaluationRequest => ({
  kind: 'evaluation',
  contract: aContract(),
  nonce: 'nonce-1',
  checkout: given.checkout,
  workspace: given.workspace,
  tier: 'none',
  hidden: [join(given.root, 'state'), join(given.workspace, 'hma.yaml')],
  outerEnvironment: { PATH: '/usr/bin:/bin' },
  ...parts,
});

async function started(request: EvaluationRequest): Promise<PreparedProgram> {
  const result = await evaluationSpec(request);
  if (!result.ok) throw new Error(result.refusal.detail);
  return result.value;
}

/** A folder with a `node` that says it is an old one and refuses to run anything. */
function oldNode(): string {
  const folder = aFolder();
  writeFileSync(join(folder, 'node'), '#!/bin/sh\nif [ "$1" = -p ]; then echo 20.19.0; else exit 9; fi\n', {
    mode: 0o755,
  });
  return folder;
}

const command = (...words: [string, ...string[]]) =>
  aContract({ evaluate: { ...aContract().evaluate, command: words } });

describe('the evaluator of a contract', () => {
  it("runs in the checkout with only what it needs, although PATH's node is old, and gives a verdict", async () => {
    const given = await setup();
    const outerEnvironment = {
      PATH: `${oldNode()}:/usr/bin:/bin`,
      HOME: '/root',
      DATA_KEY: 'named',
      HMA_RESULT: '/tmp/forged',
      SECRET_TOKEN: 'unnamed',
      NODE_OPTIONS: '--require /evil.js',
      LD_PRELOAD: '/evil.so',
    };
    const contract = aContract({ environment: ['DATA_KEY', 'NOT_SET', 'HMA_RESULT', 'HOME'] });
    const { spec, environment } = await started(requestOf(given, { contract, outerEnvironment }));
    expect(spec.argv).toEqual([process.execPath, 'evaluate.mjs']);

    const ran = spawnSync(spec.argv[0], spec.argv.slice(1), { cwd: spec.cwd, env: environment, encoding: 'utf8' });
    expect(ran.status).toBe(0);
    const { cwd, env } = JSON.parse(ran.stdout) as { cwd: string; env: Record<string, string> };
    expect(cwd).toBe(given.checkout.checkout);
    expect(env).toEqual({
      PATH: outerEnvironment.PATH,
      LANG: 'C.UTF-8',
      DATA_KEY: 'named',
      HOME: given.checkout.home,
      TMPDIR: given.checkout.tmp,
      HMA_CANDIDATE: given.checkout.checkout,
      HMA_WORKSPACE: given.workspace,
      HMA_RESULT: given.checkout.resultFile,
    });
    const exit = {
      nonce: 'n',
      code: 0,
      signal: null,
      cause: 'exit',
      outOfMemory: false,
      wall: 0,
      mono: 0,
      boot: '',
      outputBytes: 0,
    } as const;
    const run = {
      exit,
      resultFile: given.checkout.resultFile,
      outputLog: '',
      source: { from: 'file' },
      timeoutMs: 1,
    } as const;
    expect(await readVerdict(run)).toEqual({ kind: 'scored', score: 3 });
  });

  it("takes PATH's own node when that is new enough, and its own when there is none", async () => {
    const given = await setup();
    const folder = aFolder();
    symlinkSync(process.execPath, join(folder, 'node'));
    expect((await started(requestOf(given, { outerEnvironment: { PATH: folder } }))).spec.argv[0]).toBe(
      join(folder, 'node'),
    );
    expect(
      (await started(requestOf(given, { outerEnvironment: { PATH: aFolder() }, ownNode: '/runtime/node' }))).spec
        .argv[0],
    ).toBe('/runtime/node');
  });

  it('has its working directory below the checkout, which relative programs resolve against', async () => {
    const given = await setup();
    const evaluate = { ...aContract().evaluate, command: ['./run.sh', process.execPath] as const, cwd: 'eval' };
    const { spec, environment } = await started(requestOf(given, { contract: aContract({ evaluate }) }));
    expect([spec.argv[0], spec.cwd]).toEqual([
      join(given.checkout.checkout, 'eval', 'run.sh'),
      join(given.checkout.checkout, 'eval'),
    ]);
    expect(spawnSync(spec.argv[0], spec.argv.slice(1), { cwd: spec.cwd, env: environment }).status).toBe(0);
  });

  it('is refused with what to do when its program or folder is missing, or a link leads out', async () => {
    const given = await setup();
    const refusal = async (contract: EvaluationRequest['contract']) => {
      const result = await evaluationSpec(requestOf(given, { contract }));
      return result.ok ? null : result.refusal;
    };
    expect(await refusal(command('python9', 'x.py'))).toEqual({
      reason: 'program_not_found',
      detail:
        "`evaluate` can't run: `python9` was not found on PATH (/usr/bin:/bin); install it, or write its absolute path",
    });
    expect(await refusal(command('./evaluate.mjs'))).toMatchObject({
      reason: 'program_not_found',
      detail: expect.stringContaining('chmod +x') as string,
    });
    for (const cwd of ['nowhere', 'escape', 'escape/bin', '..', 'evaluate.mjs']) {
      expect(await refusal(aContract({ evaluate: { ...aContract().evaluate, cwd } }))).toMatchObject({
        reason: 'cwd_missing',
      });
    }
  });
});

describe('what each of the three programs may see', () => {
  it('is its own hidden paths alone; the validator sees none; nobody writes the workspace', async () => {
    const given = await setup();
    const contract = aContract({
      evaluate: { ...aContract().evaluate, hidden: ['/private/test'] },
      validate: { command: ['sh', '-c', 'true'], cwd: '.', timeoutMs: 5000 },
      grade: {
        command: ['sh', 'grade.sh'],
        cwd: '.',
        timeoutMs: 9000,
        hidden: ['/private/grade', '/private/test/final'],
      },
      isolation: { tier: 'auto', network: 'none', ownHome: true, readable: [], writable: [] },
    });
    const state = join(given.root, 'state');
    const always = [state, join(given.workspace, 'hma.yaml')];
    const specOf = async (kind: EvaluationRequest['kind']) =>
      (await started(requestOf(given, { kind, contract, uid: 58_001 }))).spec;
    const own = [process.execPath].map((file) => join(file, '..', '..')).filter((folder) => folder.startsWith('/tmp'));
    const { checkout, resultFile, tmp, home } = given.checkout;

    const evaluation = await specOf('evaluation');
    expect(evaluation).toMatchObject({ kind: 'evaluation', timeoutMs: 60_000, outputBytes: 1e6, nonce: 'nonce-1' });
    expect(evaluation.confinement).toEqual({
      tier: 'none',
      writable: [checkout, join(resultFile, '..'), tmp, home],
      readable: [given.workspace, '/private/test', ...own],
      hidden: [...always, '/private/grade', '/private/test/final'],
      home,
      tmp,
      network: 'none',
      uid: 58_001,
    });
    const validation = await specOf('validation');
    expect(validation.timeoutMs).toBe(5000);
    expect(validation.confinement.readable).toEqual([given.workspace]);
    expect(validation.confinement.hidden).toEqual([
      ...always,
      '/private/test',
      '/private/grade',
      '/private/test/final',
    ]);
    const grade = await specOf('grade');
    expect(grade.timeoutMs).toBe(9000);
    expect(grade.confinement.readable).toEqual([
      given.workspace,
      '/private/test',
      '/private/grade',
      '/private/test/final',
    ]);
    expect(grade.confinement.hidden).toEqual(always);
  });

  it("includes the program's own installation where that would be hidden, without its HOME", async () => {
    const given = await setup();
    const home = join(given.root, 'state', 'home');
    const program = join(home, 'venv', 'bin', 'python');
    mkdirSync(join(program, '..'), { recursive: true });
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    const request = requestOf(given, {
      contract: command(program),
      outerEnvironment: { HOME: home, PATH: '/usr/bin' },
    });
    expect((await started(request)).spec.confinement.readable).toEqual([given.workspace, join(home, 'venv')]);
    const inHome = join(home, 'bin', 'tool');
    mkdirSync(join(inHome, '..'), { recursive: true });
    symlinkSync(program, inHome);
    const linked = requestOf(given, { contract: command(inHome), outerEnvironment: { HOME: home, PATH: '/usr/bin' } });
    expect((await started(linked)).spec.confinement.readable).toEqual([
      given.workspace,
      join(home, 'bin'),
      join(home, 'venv'),
    ]);
  });
});
