import { spawn } from 'node:child_process';
import { chmodSync, existsSync, linkSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { ballastBytes, ensureBallast, freeBytes, fullnessOf, releaseBallast } from '../../src/machines/disk.ts';
import { measureFolders } from '../../src/machines/diskUse.ts';
import { listGpuProcesses, listGpus } from '../../src/machines/gpus.ts';
import { identify } from '../../src/machines/processes.ts';
import { treeActivity } from '../../src/machines/treeActivity.ts';
import { repository } from './machineRoom.ts';

let folder: string;
const path = process.env['PATH'];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hma-gpu-'));
});
afterEach(() => {
  process.env['PATH'] = path;
  delete process.env['HMA_FAKE_GPU_DIR'];
  rmSync(folder, { recursive: true });
});

const gpu = (index: number, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  index,
  uuid: `GPU-${index}`,
  name: 'NVIDIA H200, rev 2',
  'memory.total': 143_771,
  'memory.used': 10,
  'utilization.gpu': 0,
  ...more,
});

/** Puts the fixture nvidia-smi first on PATH. */
function fake(state: Record<string, unknown>): void {
  const tool = join(repository, 'test/machines/fakeGpu/nvidia-smi');
  chmodSync(tool, 0o755);
  process.env['PATH'] = `${join(repository, 'test/machines/fakeGpu')}:${path}`;
  process.env['HMA_FAKE_GPU_DIR'] = folder;
  writeFileSync(join(folder, 'gpus.json'), JSON.stringify(state));
}

test('GPUs are listed; what the driver does not tell is null', async () => {
  fake({ gpus: [gpu(0), gpu(1, { 'memory.used': '[Insufficient Permissions]', 'utilization.gpu': '[N/A]' })] });
  expect(await listGpus()).toEqual([
    { index: 0, uuid: 'GPU-0', name: 'NVIDIA H200, rev 2', memoryTotal: 143_771, memoryUsed: 10, utilization: 0 },
    { index: 1, uuid: 'GPU-1', name: 'NVIDIA H200, rev 2', memoryTotal: 143_771, memoryUsed: null, utilization: null },
  ]);
});

test('no tool and a failed driver are no GPUs, not errors', async () => {
  process.env['PATH'] = folder;
  expect(await listGpus()).toEqual([]);
  expect(await listGpuProcesses()).toBeNull();
  process.env['PATH'] = path;
  fake({ gpus: [], fail: 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.', exit: 9 });
  expect(await listGpus()).toEqual([]);
});

test('a tree is busy when a GPU that one of its processes uses is; another tree on the machine is not', async () => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  try {
    const root = identify(child.pid as number);
    if (!root) throw new Error('no child');
    const tree = { tier: 'none', nonce: 'gpu', root, supervisors: [], spare: [] } as const;
    fake({ gpus: [gpu(0, { 'utilization.gpu': 93 }), gpu(1)] });
    expect((await treeActivity(tree, folder)).gpuBusy).toBe(false);
    mkdirSync(join(folder, 'apps'));
    writeFileSync(
      join(folder, 'apps', String(child.pid)),
      JSON.stringify({ gpu: 0, used_memory: 4000, process_name: 'python, train' }),
    );
    expect(await treeActivity(tree, folder)).toMatchObject({ gpuBusy: true, processes: 1, outputBytes: 0 });
    process.env['PATH'] = '/nowhere';
    expect((await treeActivity(tree, folder)).gpuBusy).toBeNull();
  } finally {
    child.kill('SIGKILL');
  }
});

test('what an error says of room: a quota, which Node calls unknown, bytes, or something else; also from below another error', () => {
  const of = (code: string, errno: number): Error => Object.assign(new Error(`${code}: x, write`), { code, errno });
  const quota = of('UNKNOWN', -constants.errno.EDQUOT);
  expect(fullnessOf(quota, folder)).toBe('quota');
  expect(fullnessOf(new Error('the ledger', { cause: quota }), folder)).toBe('quota');
  expect(fullnessOf(new Error('fatal: write error: Disk quota exceeded'), folder)).toBe('quota');
  expect(fullnessOf(of('ENOSPC', -constants.errno.ENOSPC), folder)).toBe('space');
  expect(fullnessOf(of('UNKNOWN', -1), folder)).toBeNull();
  expect(fullnessOf(new Error('something else', { cause: 'text' }), folder)).toBeNull();
});

test('folders are measured by what they take on disk, one that is not there as nothing, and a walk that takes too long as unknown', async () => {
  const [a, b] = [join(folder, 'a'), join(folder, 'b\tc')];
  for (const one of [a, b]) mkdirSync(one);
  writeFileSync(join(a, 'one'), Buffer.alloc(1_000_000, 1));
  linkSync(join(a, 'one'), join(b, 'the same'));
  const given = { timeoutMs: 60_000, path: path ?? '' };
  const [sizeA, sizeB, gone] = await measureFolders([a, b, join(folder, 'gone')], given);
  expect(sizeA).toBeGreaterThanOrEqual(1_000_000);
  expect(sizeA).toBeLessThan(1_100_000);
  expect(sizeB).toBeLessThan(100_000);
  expect(gone).toBe(0);
  expect(await measureFolders([a], { ...given, path: folder })).toEqual([null]);
  expect(await measureFolders(['/'], { ...given, timeoutMs: 1 })).toEqual([null]);
});

test('the ballast holds its room until it is released', () => {
  expect(freeBytes(folder)).toBeGreaterThan(ballastBytes);
  expect([ensureBallast(folder), ensureBallast(folder)]).toEqual([null, null]);
  const { size, blocks } = statSync(join(folder, 'ballast'));
  expect(size).toBe(ballastBytes);
  expect(blocks * 512).toBeGreaterThanOrEqual(ballastBytes);
  expect(releaseBallast(folder)).toBe(true);
  expect(releaseBallast(folder)).toBe(false);
  expect(existsSync(join(folder, 'ballast'))).toBe(false);
});
