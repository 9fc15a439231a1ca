import { builtinModules } from 'node:module';
import { defineConfig } from 'oxlint';
import { directions, rims, type Direction } from './test/architecture/directions.ts';

const vscodeElsewhere = { name: 'vscode', message: 'Only src/window and src/extension.ts know vscode.' };
const everyFolder = Object.keys(directions);

/** A pattern for the rule: nothing of these folders, or nothing but types (which file, the architecture test says). */
const noneOf = (folders: readonly string[], message: string, allowTypeImports: boolean) =>
  folders.length === 0 ? [] : [{ regex: `^(\\.\\./)+(${folders.join('|')})/`, message, allowTypeImports }];

/** What a folder of src may not import, as the rule `no-restricted-imports` wants it. */
const restricted = (folder: string, { folders, ports, node }: Direction) => {
  const strangers = everyFolder.filter((other) => ![folder, ...folders, ...ports].includes(other));
  const modules = node === 'any' ? [] : builtinModules.filter((name) => !name.startsWith('_') && !node.includes(name));
  const message = `Not a direction src/${folder} may look in: docs/architecture.md, "Direction".`;
  return {
    paths: [
      ...(folder === 'window' ? [] : [vscodeElsewhere]),
      ...modules.flatMap((name) =>
        [name, `node:${name}`].map((each) => ({ name: each, message: `src/${folder} does no input or output.` })),
      ),
    ],
    patterns: [
      ...noneOf(strangers, message, false),
      ...noneOf(ports, `${message} Only types of its port.ts, by import type.`, true),
    ],
  };
};

/** A rule that is an error, with its options: a tuple, which a bare literal inside a map would not be. */
const rule = <Options>(options: Options): ['error', Options] => ['error', options];

/** The directions folder by folder, and where a rule of the whole doesn't hold. */
const overrides: Parameters<typeof defineConfig>[0]['overrides'] = [
  ...Object.entries(directions).map(([folder, direction]) => ({
    files: [`src/${folder}/**`],
    rules: { 'no-restricted-imports': rule(restricted(folder, direction)) },
  })),
  ...[...rims].map((path) => ({
    files: [`src/${path}`],
    rules: { 'no-restricted-imports': rule({ paths: [vscodeElsewhere] }) },
  })),
  // The integration suite runs inside of VS Code.
  { files: ['src/extension.ts', 'test/editor/*.test.ts'], rules: { 'no-restricted-imports': 'off' } },
  { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
];

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'node', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  env: { node: true, es2024: true },
  options: { typeAware: true },
  ignorePatterns: ['dist/**', 'test/**/fixtures/**', 'test-output/**'],
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/consistent-type-imports': 'error',
    'import/no-default-export': 'error',
    'no-shadow': ['error', { allow: ['_'] }],
    'no-restricted-imports': ['error', { paths: [vscodeElsewhere] }],
    // tsc does this better (noImplicitReturns knows exhaustive switches).
    'typescript/consistent-return': 'off',
    // `error as NodeJS.ErrnoException` and values that zod has just validated.
    'typescript/no-unsafe-type-assertion': 'off',
    // Arrays that were made in the same expression.
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    // A key of hma.yaml is called `then`.
    'unicorn/no-thenable': 'off',
    // Where a function stands is for the reader.
    'unicorn/consistent-function-scoping': 'off',
    'typescript/no-unnecessary-type-parameters': 'off',
    // Control characters are cleaned out of what agents print.
    'no-control-regex': 'off',
    'promise/always-return': 'off',
    // Parameters that a signature asks for: named `_…`.
    'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    // vitest takes a message; an assertion may stand in a function whose name says so, or in a property.
    'vitest/valid-expect': ['error', { maxArgs: 2 }],
    'vitest/expect-expect': [
      'error',
      {
        assertFunctionNames: [
          'expect',
          'expect*',
          'assert*',
          'fc.assert',
          'hold',
          'hold*',
          'law',
          '*.until',
          '*.expect*',
          'until',
          '*.waitFor',
        ],
      },
    ],
    // "it is skipped" is a sentence.
    'vitest/valid-title': 'off',
    // `fc` is how fast-check is read everywhere.
    'import/no-named-as-default-member': 'off',
    // VS Code's postMessage takes no origin: it is a line between a page and its host.
    'unicorn/require-post-message-target-origin': 'off',
    // A page's stylesheet.
    'import/no-unassigned-import': ['error', { allow: ['**/*.css'] }],
    // What a property may expect depends on what it was given.
    'vitest/no-conditional-expect': 'off',
    // `[...rest]` that says what is joined.
    'unicorn/no-useless-spread': 'off',
  },
  overrides,
});
