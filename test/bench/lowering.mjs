// @ts-check
// `node --import ./test/bench/lowering.mjs`: what Node 22 can't yet run of our TypeScript as it is (`using`) is lowered by esbuild when it is loaded.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
    const source = readFileSync(fileURLToPath(url), 'utf8');
    const { code } = transformSync(source, {
      loader: 'ts',
      target: 'node22',
      format: 'esm',
      sourcefile: url,
      sourcemap: 'inline',
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
