import type { KnipConfig } from 'knip';
import { entries } from './test/bootstrap/esbuild.mjs';

const config: KnipConfig = {
  // Every bundle starts somewhere; tests and their programs are started by path as well as imported.
  entry: [...entries.map((each) => each.source), 'test/**/*.{ts,mjs}'],
  project: ['src/**/*.ts', 'webview-ui/**/*.{ts,tsx}', 'test/**/*.{ts,mjs}'],
  ignoreDependencies: [
    // Started by npm scripts through test/bootstrap/with.mjs and layers.mjs, which knip doesn't look into.
    'oxfmt',
  ],
  // What a signature or a docstring names is exported for its readers and its tests.
  ignoreExportsUsedInFile: true,
  // Programs of the system, and one that a test writes itself.
  ignoreBinaries: [
    'bwrap',
    'openssl',
    'mount',
    'umount',
    'hma',
    'mkfifo',
    'script',
    'perl',
    'strace',
    'setpriv',
    'getfacl',
    'nvidia-smi',
    'gcc',
    'unshare',
    'truncate',
  ],
  ignoreUnresolved: ['./evaluate.sh'],
};

export default config;
