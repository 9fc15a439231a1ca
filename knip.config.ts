import type { KnipConfig } from 'knip';
import { entries } from './test/bootstrap/esbuild.mjs';

const config: KnipConfig = {
  // Every bundle starts somewhere; tests and their programs are started by path as well as imported.
  entry: [...entries.map((each) => each.source), 'test/**/*.{ts,mjs}'],
  project: ['src/**/*.ts', 'webview-ui/**/*.{ts,tsx}', 'test/**/*.{ts,mjs}'],
  ignoreDependencies: [
    // Started by npm scripts through test/bootstrap/with.mjs and layers.mjs, which knip doesn't look into.
    'oxfmt',
    '@vscode/vsce',
    // For the extension, which comes with the next issue.
    '@types/vscode',
  ],
  // A type that is part of an exported function's signature is exported for its readers.
  ignoreExportsUsedInFile: { interface: true, type: true },
};

export default config;
