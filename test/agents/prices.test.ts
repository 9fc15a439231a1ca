import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { loadPrices } from '../../src/agents/priceFile.ts';
import { defaultPrices } from '../../src/agents/prices.ts';
import { presets } from '../../src/agents/presets.ts';
import { priceOf } from '../../src/analysis/usage.ts';

test('every built-in price is dated, has a source, and its cached input is no dearer than fresh one', () => {
  for (const [model, price] of Object.entries(defaultPrices)) {
    expect(model).toBe(model.toLowerCase());
    expect(price.asOf).toMatch(/^20\d\d-\d\d-\d\d$/);
    expect(price.source).toMatch(/^https:\/\//);
    expect(price.cachedInput).toBeLessThanOrEqual(price.input);
    expect(price.output).toBeGreaterThan(price.input);
    expect(priceOf(model, defaultPrices)).toBe(price);
  }
  const named = presets.flatMap(({ endpoints }) => Object.values(endpoints).map(({ model }) => model));
  for (const model of ['glm-5.3', 'kimi-k3', 'deepseek-v4-pro']) {
    expect(named).toContain(model);
    expect(priceOf(model, defaultPrices)).toBeDefined();
  }
});

describe("a user's own prices", () => {
  let home: string;
  let env: { XDG_CONFIG_HOME: string };
  const mine = (input: number) => ({ input, cachedInput: 0, output: 9, asOf: '2026-11-30', source: 'my contract' });
  const write = (folder: string, text: string): string => {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'prices.json');
    writeFileSync(file, text);
    return file;
  };
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'hma-prices-'));
    env = { XDG_CONFIG_HOME: join(home, 'config') };
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  test('take the place of built-in ones, those of the state folder last', () => {
    const config = write(
      join(env.XDG_CONFIG_HOME, 'hma'),
      JSON.stringify({ models: { 'GPT-5': mine(1), own: mine(2) } }),
    );
    const state = write(home, JSON.stringify({ models: { own: mine(3) } }));
    const { prices, from, files, problems } = loadPrices(home, env);
    expect([prices['gpt-5']?.input, prices['own']?.input]).toEqual([1, 3]);
    expect(from).toEqual({ 'gpt-5': config, own: state });
    expect(files).toEqual([config, state]);
    expect(problems).toEqual([]);
    expect(prices['claude-opus-5']).toBe(defaultPrices['claude-opus-5']);
  });

  test('in a file with an error none counts, and the error says where and what to write', () => {
    const file = write(home, '{"models": {');
    const broken = loadPrices(home, env);
    expect(broken.prices).toEqual(defaultPrices);
    expect(broken.problems).toEqual([
      { file, what: expect.stringContaining('no JSON'), fix: expect.stringContaining('"cachedInput": 0.2') },
    ]);
    const cases: readonly [unknown, RegExp][] = [
      [{ models: { a: { ...mine(1), input: '1' } } }, /^models\.a\.input: .*number/],
      [{ models: { a: { ...mine(1), output: -1 } } }, /^models\.a\.output: /],
      [{ models: { a: { ...mine(1), asOf: 'today' } } }, /^models\.a\.asOf: must be a date/],
      [{ models: { a: { ...mine(1), source: undefined } } }, /^models\.a\.source: /],
      [{ models: { a: { ...mine(1), cached: 1 } } }, /cached/],
      [{ model: {} }, /^models: /],
      [[], /the file: /],
    ];
    for (const [value, what] of cases) {
      write(home, JSON.stringify(value));
      expect(loadPrices(home, env).problems[0]?.what).toMatch(what);
    }
  });
});
