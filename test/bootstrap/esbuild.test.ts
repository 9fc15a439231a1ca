import { execFileSync } from 'node:child_process';
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { projectEnvironment } from './environment.mjs';
import { bundledPackages, bundleOptions } from './esbuild.mjs';

const program = { out: 'program.js', source: 'test/bootstrap/fixtures/program.ts', program: true };

test('a bundled program with a CommonJS library starts alone, from any folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hma-bundle-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
    const { metafile } = await build(bundleOptions(program, folder));
    expect(bundledPackages(metafile)).toEqual(['node_modules/commander']);
    const file = join(folder, 'program.js');
    expect(execFileSync(file, ['hello'], { cwd: folder, env: projectEnvironment(), encoding: 'utf8' })).toBe(
      'said hello\n',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a rebuilt bundle is a new file: a hard link to the old one keeps its content', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hma-bundle-'));
  try {
    const [file, kept] = [join(folder, 'program.js'), join(folder, 'kept.js')];
    writeFileSync(file, 'the one before');
    linkSync(file, kept);
    await build(bundleOptions(program, folder));
    expect(readFileSync(kept, 'utf8')).toBe('the one before');
    expect(statSync(file).mode & 0o777).toBe(0o755);
    expect(readdirSync(folder).toSorted()).toEqual(['kept.js', 'program.js']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
