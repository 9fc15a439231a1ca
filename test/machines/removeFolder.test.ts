import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { removeFolder } from '../../src/machines/isolation.ts';

test('a tree deeper than the longest path that the system takes is removed too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hma-deep-'));
  const dig =
    'i=0; while [ $i -lt 500 ]; do mkdir dddddddddd && cd -P dddddddddd || exit 1; i=$((i+1)); done; : > file';
  execFileSync('bash', ['-c', dig], { cwd: folder });
  await removeFolder(folder);
  expect(existsSync(folder)).toBe(false);
});
