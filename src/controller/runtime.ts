import { createHash } from 'node:crypto';
import {
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { errorCode } from '../base/files.ts';

/** The programs that a run needs, as absolute paths that outlive an upgrade of the extension. */
export interface Runtime {
  readonly version: string;
  readonly folder: string;
  readonly node: string;
  readonly keeper: string;
  readonly controller: string;
  readonly runner: string;
  readonly session: string;
  /** Starts harnesses whose stdin is a protocol. */
  readonly drive: string;
  /** Folder with the `hma` shim, first on a session's PATH. */
  readonly shims: string;
  /** The bundled sample and its demonstration agents. */
  readonly sample: string;
}

/** The bundles in a folder that can run outside of VS Code, and what they share, in order. */
const programsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.js') && name !== 'review.js')
    .toSorted();

/** The folder of the built bundles: this bundle's own, or `dist` beside `src` when run from source. */
export function bundleFolder(here: string = import.meta.dirname): string {
  if (existsSync(join(here, 'controller.js'))) return here;
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder)) {
    const built = join(folder, 'dist', 'controller.js');
    if (existsSync(built)) return dirname(built);
  }
  throw new Error(`no built programs found from ${here}: run npm run build`);
}

/**
 * Copies the single-file programs, the Node binary and the sample into the state folder and says where they are, so that an
 * editor may delete an old extension's folder under a living run. The same content is copied once.
 */
export function installRuntime(home: string): Runtime {
  const from = bundleFolder();
  const version = versionOf(from);
  const folder = join(home, 'runtime', version);
  if (!existsSync(folder)) {
    const temporary = `${folder}.${process.pid}.tmp`;
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(join(temporary, 'bin'), { recursive: true, mode: 0o755 });
    for (const name of programsIn(from)) copyFileSync(join(from, name), join(temporary, name));
    writeFileSync(join(temporary, 'package.json'), '{"type":"module"}\n');
    const sample = join(dirname(from), 'media', 'sample');
    if (existsSync(sample)) cpSync(sample, join(temporary, 'media', 'sample'), { recursive: true });
    placeNode(join(temporary, 'node'));
    // The shim names no absolute place, so that the folder can be renamed into position.
    writeFileSync(
      join(temporary, 'bin', 'hma'),
      '#!/bin/sh\nhere=${0%/*}\nexec "$here/../node" "$here/../session.js" "$@"\n',
      { mode: 0o755 },
    );
    putInPlace(temporary, folder);
  }
  return runtimeIn(folder);
}

/** The runtime in a folder that `installRuntime` made; a controller finds its own beside its bundle. */
export function runtimeIn(folder: string): Runtime {
  const at = (name: string): string => join(folder, name);
  return {
    version: basename(folder),
    folder,
    node: at('node'),
    keeper: at('keeper.js'),
    controller: at('controller.js'),
    runner: at('runner.js'),
    session: at('session.js'),
    drive: at('drive.js'),
    shims: at('bin'),
    sample: at('media/sample'),
  };
}

function versionOf(from: string): string {
  const hash = createHash('sha256').update(process.version);
  for (const name of programsIn(from)) hash.update(name).update(readFileSync(join(from, name)));
  return hash.digest('hex').slice(0, 16);
}

/** The same inode where possible: deleting the other name does no harm, and 120 MB are not copied again. */
function placeNode(target: string): void {
  try {
    linkSync(process.execPath, target);
  } catch {
    copyFileSync(process.execPath, target, constants.COPYFILE_FICLONE);
  }
}

function putInPlace(temporary: string, folder: string): void {
  try {
    renameSync(temporary, folder);
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    rmSync(temporary, { recursive: true, force: true }); // another process was first with the same content
  }
}
