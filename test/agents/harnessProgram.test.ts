import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { besideProgram, findHarness, findInstalled, type HarnessSearch } from '../../src/agents/harnessProgram.ts';
import { aFolder } from '../evaluators/folders.ts';

/** An npm-like installation with a script for Node and a platform's binary beside it. */
function anInstallation() {
  const root = realpathSync(aFolder());
  const place = (path: string, content: string): string => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode: 0o755 });
    return file;
  };
  const script = place(
    'lib/node_modules/@x/tool/bin/tool.js',
    '#!/usr/bin/env node\nconsole.log(`tool ${process.versions.node >= "22" ? "9.8.7-beta.1" : "old"} (${process.env.HOME === process.cwd()})`);\n',
  );
  const native = place('lib/node_modules/@x/tool-linux/tool', '#!/bin/sh\necho native v1.2.3\n');
  mkdirSync(join(root, 'bin'));
  symlinkSync(script, join(root, 'bin', 'tool'));
  return { root, script, native };
}

const search = (root: string, parts: Partial<HarnessSearch> = {}): HarnessSearch => ({
  agent: { name: 'mine' },
  cwd: root,
  environment: { PATH: join(root, 'bin'), HOME: root },
  program: 'tool',
  title: 'Tool',
  install: 'npm install -g @x/tool@latest',
  ...parts,
});

describe('a harness is found', () => {
  it('as a script for Node, started with a recent Node, its dependencies readable', async () => {
    const { root, script } = anInstallation();
    const found = await findHarness(search(root));
    expect(found).toMatchObject({
      ok: true,
      value: { found: join(root, 'bin/tool'), argv: [process.execPath, script] },
    });
    if (!found.ok) return;
    expect(found.value.readable).toContain(join(root, 'lib/node_modules'));
    expect(found.value.readable).not.toContain(root); // HOME stays hidden
  });

  it('as the native binary behind its wrapper', async () => {
    const { root, native } = anInstallation();
    const found = await findHarness(
      search(root, { native: (program) => besideProgram(program, ['@x/tool-musl/tool', '@x/tool-linux/tool']) }),
    );
    expect(found).toMatchObject({ ok: true, value: { argv: [native] } });
  });

  it('with its version, asked in an empty HOME', async () => {
    const { root } = anInstallation();
    expect(await findInstalled(search(root))).toEqual({
      ok: true,
      value: { program: join(root, 'bin/tool'), version: '9.8.7-beta.1' },
    });
    const silent = join(root, 'bin', 'silent');
    writeFileSync(silent, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    expect(await findInstalled(search(root, { agent: { name: 'mine', program: silent } }))).toEqual({
      ok: true,
      value: { program: silent, version: null },
    });
  });

  it('or refused with how to install it', async () => {
    const { root } = anInstallation();
    const missing = await findHarness(search(root, { program: 'absent' }));
    expect(missing).toMatchObject({ ok: false, refusal: { reason: 'not_installed' } });
    if (!missing.ok) expect(missing.refusal.detail).toContain('npm install -g @x/tool@latest');
  });
});
