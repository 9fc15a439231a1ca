import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type PluginBuild } from 'esbuild';

import { installRuntime } from '../../src/controller/runtime.ts';
import { bundleOptions, entries } from '../bootstrap/esbuild.mjs';

/** A change of one source file that takes a step away or swaps two: the guards must notice. */
export interface Mutation {
  /** What is wrong with the build, in words. */
  readonly what: string;
  /** Path below src. */
  readonly file: string;
  /** Text that occurs exactly once, and what stands in its place. */
  readonly from: string;
  readonly to: string;
}

/** Builds the controller with a mutation and gives its text. Throws when the text isn't there once: the mutation must follow the source. */
export async function mutatedController(mutation: Mutation): Promise<string> {
  const entry = entries.find(({ out }) => out === 'controller.js');
  if (!entry) throw new Error('the controller has no bundle');
  const folder = mkdtempSync(join(tmpdir(), 'hma-mutant-'));
  let applied = 0;
  const mutate = {
    name: 'mutate',
    setup(bundler: PluginBuild) {
      bundler.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!path.endsWith(`/src/${mutation.file}`)) return null;
        const text = readFileSync(path, 'utf8');
        if (text.split(mutation.from).length !== 2)
          throw new Error(`${mutation.file} does not have exactly once: ${mutation.from}`);
        applied += 1;
        return { contents: text.replace(mutation.from, () => mutation.to), loader: 'ts' as const };
      });
    },
  };
  try {
    const { outputFiles } = await build({ ...bundleOptions(entry, folder), plugins: [mutate] });
    if (applied !== 1) throw new Error(`${mutation.file} is not in the controller's bundle`);
    return outputFiles[0]?.text ?? '';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Puts another controller into a state folder's runtime before the run starts. */
export function useController(home: string, text: string): void {
  writeFileSync(`${installRuntime(home).controller}.new`, text);
  renameSync(`${installRuntime(home).controller}.new`, installRuntime(home).controller);
}

/** The system calls that the order is read from. */
const calls = [
  'fsync',
  'fdatasync',
  'pwrite64',
  'write',
  'writev',
  'sendto',
  'sendmsg',
  'rename',
  'renameat',
  'renameat2',
  'link',
  'linkat',
  'unlink',
  'unlinkat',
  'kill',
  'tgkill',
  'execve',
];

/** Starts each controller of a state folder under strace, which lets go of what the controller spawns. One file per controller. */
export function straceControllers(home: string, file: string): void {
  const { node } = installRuntime(home);
  renameSync(node, `${node}-itself`);
  const trace = `strace -f -b execve -qq -yy -s 20000 -e trace=${calls.join(',')} -e signal=none -o '${file}'.$$`;
  writeFileSync(
    node,
    `#!/bin/sh\ncase "$1" in */controller.js) exec ${trace} '${node}-itself' "$@" ;; esac\nexec '${node}-itself' "$@"\n`,
  );
  chmodSync(node, 0o755);
}

/** Makes the first runner of each start sleep before it is Node, as on a machine that swaps: a controller that died meanwhile starts another. */
export function delayRunners(home: string): void {
  const { node } = installRuntime(home);
  renameSync(node, `${node}-itself`);
  const delay =
    'late="$2/late"; [ "$2" = --standby ] && late="${1%/*}/late"; [ -e "$late" ] || { : > "$late"; sleep 2; }';
  writeFileSync(node, `#!/bin/sh\ncase "$1" in */runner.js) ${delay} ;; esac\nexec '${node}-itself' "$@"\n`);
  chmodSync(node, 0o755);
}

/** Makes the first runner of a kind (`attempt` or `evaluation`) die at one of its own crash points, once in a run. */
export function crashRunner(
  home: string,
  given: { readonly kind: 'attempt' | 'evaluation'; readonly point: string },
): void {
  const { node, folder } = installRuntime(home);
  renameSync(node, `${node}-itself`);
  const place = given.kind === 'attempt' ? '*/attempt-1' : '*/evaluations/*|--standby';
  const once = `case "$2" in ${place}) if mkdir '${folder}/killed' 2>/dev/null; then HMA_CRASH=${given.point}; export HMA_CRASH; fi ;; esac`;
  writeFileSync(node, `#!/bin/sh\ncase "$1" in */runner.js) ${once} ;; esac\nexec '${node}-itself' "$@"\n`);
  chmodSync(node, 0o755);
}
