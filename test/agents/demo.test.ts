import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { demoAdapter } from '../../src/agents/demo/adapter.ts';
import { aFolder, write } from '../evaluators/folders.ts';
import { aSession } from './aSession.ts';

const agents = resolve(import.meta.dirname, '../../media/sample/agents');

it('starts the bundled script that `model` names, on this very Node, with the seed', async () => {
  for (const model of ['tuner', 'builder'] as const) {
    const launch = await demoAdapter.prepare(
      aSession({ model }, { outerEnvironment: { PATH: '', HMA_DEMO_SEED: '7' } }),
    );
    expect(launch).toMatchObject({
      ok: true,
      value: {
        argv: [process.execPath, join(agents, `${model}.mjs`)],
        environment: { HMA_DEMO_SEED: '7' },
        writable: [],
      },
    });
    expect(launch.ok && launch.value.readable[0]).toBe(agents);
  }
});

it('takes the scripts from the folder that HMA_DEMO_AGENTS names, and no other then', async () => {
  const folder = write(aFolder(), { 'tuner.mjs': '' });
  const outerEnvironment = { HMA_DEMO_AGENTS: folder };
  expect(await demoAdapter.prepare(aSession({ model: 'tuner' }, { outerEnvironment }))).toMatchObject({
    ok: true,
    value: { argv: [process.execPath, join(folder, 'tuner.mjs')], environment: {} },
  });
  expect(await demoAdapter.prepare(aSession({ model: 'builder' }, { outerEnvironment }))).toEqual({
    ok: false,
    refusal: {
      reason: 'not_installed',
      detail: `the demonstration agent \`builder.mjs\` is not in ${folder}; install again, or set HMA_DEMO_AGENTS to its folder`,
    },
  });
});

it('finds the scripts from a single-file bundle in another place, beside which they were put', async () => {
  const folder = aFolder();
  const entry = resolve(import.meta.dirname, '../../src/agents/demo/adapter.ts');
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: join(folder, 'runtime/controller.js'),
    logLevel: 'silent',
  });
  mkdirSync(join(folder, 'runtime/media/sample/agents'), { recursive: true });
  copyFileSync(join(agents, 'tuner.mjs'), join(folder, 'runtime/media/sample/agents/tuner.mjs'));
  write(folder, {
    'runtime/package.json': '{"type":"module"}',
    'start.mjs': `import { demoAdapter } from './runtime/controller.js';
      const given = JSON.parse(process.argv[2]);
      console.log(JSON.stringify(await demoAdapter.prepare(given)));`,
  });
  const ran = spawnSync(process.execPath, [join(folder, 'start.mjs'), JSON.stringify(aSession({ model: 'tuner' }))], {
    encoding: 'utf8',
  });
  expect(ran.stderr).toBe('');
  expect(JSON.parse(ran.stdout)).toMatchObject({
    ok: true,
    value: { argv: [process.execPath, join(folder, 'runtime/media/sample/agents/tuner.mjs')] },
  });
});

it('is refused without a model that it knows', async () => {
  for (const model of [{}, { model: 'opus' }]) {
    expect(await demoAdapter.prepare(aSession(model))).toMatchObject({
      ok: false,
      refusal: { reason: 'not_configured', detail: expect.stringContaining('model: tuner') as string },
    });
  }
});
