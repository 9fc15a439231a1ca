import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { root } from './environment.mjs';
import { readmeAlone } from './package.mjs';

test('the README of the package stands alone: no pictures, no links into a repository that isn’t there', () => {
  const whole = readFileSync(join(root, 'README.md'), 'utf8');
  expect(whole).toContain('<picture>');
  const alone = readmeAlone(whole);
  expect(alone).not.toMatch(/<picture|<img|!\[|docs\/images|The pictures are made by/);
  expect(alone).not.toMatch(/\]\((?!https?:|#)/);
  expect(alone).toContain('The final-review page has the whole archive');
  expect(
    readmeAlone('see [the guide](docs/guide.md), [the words](#the-words) and [the paper](https://example.org/p)'),
  ).toBe('see the guide, [the words](#the-words) and [the paper](https://example.org/p)');
});
