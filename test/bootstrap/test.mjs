// @ts-check
// `npm test`: installs what is missing, then runs all layers (layers.mjs) under the project's Node.
import { nodeBinary, run } from './environment.mjs';
import { ensurePackages } from './packages.mjs';
import { ensureSystem, testPackages } from './system.mjs';

const ready = (await ensureSystem(testPackages)) && (await ensurePackages());
if (ready) {
  process.exitCode = await run([nodeBinary, 'test/bootstrap/layers.mjs', ...process.argv.slice(2)]);
} else {
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
