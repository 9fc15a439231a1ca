// @ts-check
// Packages dist/ and the documents as an extension: node test/bootstrap/package.mjs [--out FILE]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, run } from './environment.mjs';

/**
 * The README for a reader who has the extension and not the repository: no pictures (they would be broken links), no word about how they
 * are made, and links to files of the repository as plain words.
 * @param {string} text
 */
export const readmeAlone = (text) =>
  text
    .replaceAll(/<picture>[\s\S]*?<\/picture>\n*/g, '')
    .replace(/^The pictures are made by .*\n+/m, '')
    .replaceAll(/\[([^\]]+)\]\((?!https?:|#)[^)]+\)/g, '$1');

/**
 * What vsce is told. Where package.json names the repository, vsce makes the README's links and pictures absolute by itself; until then
 * the package gets a README that stands alone, at dist/README.md.
 * @param {string} folder the repository
 */
export const packageFlags = (folder) => {
  const { repository } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (repository !== undefined) return ['--no-dependencies'];
  writeFileSync(join(folder, 'dist/README.md'), readmeAlone(readFileSync(join(folder, 'README.md'), 'utf8')));
  const missing = ['--allow-missing-repository', '--no-rewrite-relative-links'];
  return ['--no-dependencies', ...missing, '--readme-path', 'dist/README.md'];
};

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = await run(['vsce', 'package', ...packageFlags(root), ...process.argv.slice(2)]);
