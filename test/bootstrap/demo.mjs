// @ts-check
// `npm run demo`: installs what the demonstration needs, builds, and runs it (test/demo/run.ts) under the project's Node.
import { nodeBinary, run } from './environment.mjs';
import { ensurePackages } from './packages.mjs';
import { ensureSystem, productPackages } from './system.mjs';

const main = async () => {
  if (!((await ensureSystem(productPackages)) && (await ensurePackages()))) return 1;
  const built = await run([nodeBinary, 'test/bootstrap/esbuild.mjs', '--quiet']);
  return built === 0 ? run([nodeBinary, 'test/demo/run.ts', ...process.argv.slice(2)]) : built;
};

process.exitCode = await main();
