import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of the `mlebench` package that a program of that name belongs to: in its environment's site-packages, or where an editable
 * installation (`pip install -e`) says that it lies. Null where none is found.
 */
export function packageOf(program: string): string | null {
  for (const site of globSync(join(dirname(dirname(program)), 'lib', 'python3*', 'site-packages'))) {
    const own = join(site, 'mlebench');
    if (existsSync(join(own, 'competitions'))) return own;
    for (const file of globSync(join(site, '*.pth'))) {
      const folders = readFileSync(file, 'utf8').split('\n');
      const found = folders
        .map((line) => join(line.trim(), 'mlebench'))
        .find((path) => existsSync(join(path, 'competitions')));
      if (found !== undefined && found.startsWith('/')) return found;
    }
    for (const file of globSync(join(site, '__editable__*mlebench*finder.py'))) {
      const [, path] = /['"]mlebench['"]: *['"]([^'"]+)['"]/.exec(readFileSync(file, 'utf8')) ?? [];
      if (path !== undefined && existsSync(join(path, 'competitions'))) return path;
    }
  }
  return null;
}
