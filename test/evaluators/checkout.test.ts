import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareCheckout, type Checkout } from '../../src/evaluators/checkout.ts';
import { protectFiles, type ProtectedFiles } from '../../src/evaluators/protectedFiles.ts';
import { aFolder, write } from './folders.ts';

async function setup(
  largeBytes?: number,
): Promise<{ workspace: string; folder: string; protectedFiles: ProtectedFiles }> {
  const root = aFolder();
  const workspace = write(join(root, 'w'), {
    'hma.yaml': 'secret thresholds',
    'evaluate.mjs': 'pristine',
    'eval/score.py': 'pristine score',
    'data/test.csv': 'pristine rows',
  });
  const patterns = ['hma.yaml', 'evaluate.mjs', 'eval', 'data/*.csv'];
  const stored = await protectFiles({
    workspace,
    patterns,
    store: join(root, 'store'),
    ...(largeBytes === undefined ? {} : { largeBytes }),
  });
  if (!stored.ok) throw new Error(stored.refusal.detail);
  return { workspace, folder: join(root, 'evaluation'), protectedFiles: stored.value };
}

function made(result: Awaited<ReturnType<typeof prepareCheckout>>): Checkout {
  if (!result.ok) throw new Error(result.refusal.detail);
  return result.value;
}

const treeOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();

describe('a checkout', () => {
  it('holds the candidate and the pristine protected files, not the contract, beside an empty place for the result', async () => {
    const { workspace, folder, protectedFiles } = await setup();
    writeFileSync(join(workspace, 'evaluate.mjs'), 'changed by an agent meanwhile');
    const restoreCandidate = async (into: string) =>
      void write(into, { 'solution/model.mjs': 'model', 'evaluate.mjs': 'forged', 'hma.yaml': 'forged' });
    const { checkout, resultFile, tmp, home } = made(
      await prepareCheckout({ folder, restoreCandidate, protectedFiles, workspace }),
    );
    expect(treeOf(checkout)).toEqual(['data/test.csv', 'eval/score.py', 'evaluate.mjs', 'solution/model.mjs']);
    expect(readFileSync(join(checkout, 'evaluate.mjs'), 'utf8')).toBe('pristine');
    expect(existsSync(resultFile)).toBe(false);
    expect(readdirSync(join(resultFile, '..'))).toEqual([]);
    expect([tmp, home].map((each) => readdirSync(each))).toEqual([[], []]);
    expect(resultFile.startsWith(checkout)).toBe(false);
  });

  it('is never written through links that the candidate put in the place of protected files or their folders', async () => {
    const { workspace, folder, protectedFiles } = await setup();
    const outside = write(aFolder(), { 'victim.txt': 'untouched', 'test.csv': 'untouched' });
    const restoreCandidate = async (into: string) => {
      symlinkSync(join(outside, 'victim.txt'), join(into, 'evaluate.mjs'));
      symlinkSync(outside, join(into, 'data'));
      symlinkSync('/etc/hostname', join(into, 'eval'));
      symlinkSync(outside, join(into, 'elsewhere'));
    };
    const { checkout } = made(await prepareCheckout({ folder, restoreCandidate, protectedFiles, workspace }));
    expect(
      ['evaluate.mjs', 'eval/score.py', 'data/test.csv'].map((path) => readFileSync(join(checkout, path), 'utf8')),
    ).toEqual(['pristine', 'pristine score', 'pristine rows']);
    expect(lstatSync(join(checkout, 'data')).isDirectory()).toBe(true);
    expect(lstatSync(join(checkout, 'evaluate.mjs')).isFile()).toBe(true);
    expect(readlinkSync(join(checkout, 'elsewhere'))).toBe(outside);
    expect(treeOf(outside).map((path) => readFileSync(join(outside, path), 'utf8'))).toEqual([
      'untouched',
      'untouched',
    ]);
  });

  it('has nothing of the candidate below protected folders and globs, where the evaluator would load it', async () => {
    const { workspace, folder, protectedFiles } = await setup();
    const restoreCandidate = async (into: string) =>
      void write(into, {
        'eval/json.py': 'hijack',
        'eval/json/__init__.py': 'hijack',
        'data/more.csv': 'rows',
        'data/own.txt': 'mine',
        'evaluate.mjs/x': 'a folder',
      });
    const { checkout } = made(await prepareCheckout({ folder, restoreCandidate, protectedFiles, workspace }));
    expect(treeOf(checkout)).toEqual(['data/own.txt', 'data/test.csv', 'eval/score.py', 'evaluate.mjs']);
  });

  it('is fresh although an interrupted evaluation left things behind, and their links are not followed', async () => {
    const { workspace, folder, protectedFiles } = await setup();
    const outside = write(aFolder(), { 'kept.txt': 'kept' });
    const request = { folder, restoreCandidate: async () => {}, protectedFiles, workspace };
    const first = made(await prepareCheckout(request));
    write(first.checkout, { 'left/over.txt': 'x' });
    writeFileSync(first.resultFile, '{"score": 1}');
    symlinkSync(outside, join(first.tmp, 'link'));
    rmSync(first.home, { recursive: true });
    symlinkSync(outside, first.home);
    const second = made(await prepareCheckout(request));
    expect(treeOf(second.checkout)).toEqual(['data/test.csv', 'eval/score.py', 'evaluate.mjs']);
    expect(existsSync(second.resultFile)).toBe(false);
    expect(readdirSync(second.tmp)).toEqual([]);
    expect(lstatSync(second.home).isDirectory()).toBe(true);
    expect(readdirSync(outside)).toEqual(['kept.txt']);
  });

  it('links to large files after verifying them, and is refused when one was changed', async () => {
    const { workspace, folder, protectedFiles } = await setup(13);
    const restoreCandidate = async (into: string) => {
      const elsewhere = aFolder();
      symlinkSync(elsewhere, join(into, 'eval'));
    };
    const request = { folder, restoreCandidate, protectedFiles, workspace };
    const { checkout } = made(await prepareCheckout(request));
    expect(readlinkSync(join(checkout, 'eval', 'score.py'))).toBe(join(workspace, 'eval', 'score.py'));
    expect(lstatSync(join(checkout, 'eval')).isDirectory()).toBe(true);
    expect(lstatSync(join(checkout, 'data', 'test.csv')).isFile()).toBe(true);

    writeFileSync(join(workspace, 'eval', 'score.py'), 'forgedne score');
    utimesSync(join(workspace, 'eval', 'score.py'), 1, 1);
    expect(await prepareCheckout(request)).toEqual({
      ok: false,
      refusal: {
        path: 'eval/score.py',
        detail: 'the protected file `eval/score.py` is read in place and was changed; put the original back',
      },
    });
  });

  it("fails with the store's own error when the candidate can not be restored", async () => {
    const { workspace, folder, protectedFiles } = await setup();
    const broken = {
      folder,
      restoreCandidate: () => Promise.reject(new Error('object missing')),
      protectedFiles,
      workspace,
    };
    await expect(prepareCheckout(broken)).rejects.toThrow('object missing');
    mkdirSync(join(folder, 'checkout', 'half'), { recursive: true });
    expect(treeOf(made(await prepareCheckout({ ...broken, restoreCandidate: async () => {} })).checkout)).toHaveLength(
      3,
    );
  });
});
