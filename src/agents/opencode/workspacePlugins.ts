import { readFile, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Programs that opencode would load from a workspace whatever it is told: modules in `.opencode/plugin(s)`, and a configuration that
 * names plugins, in the folder and above it up to its repository's root. Its flags (`--pure`, OPENCODE_DISABLE_PROJECT_CONFIG) keep all
 * other settings out, but not these: seen with 1.18.33. Paths; empty when there is nothing.
 */
export async function workspacePlugins(workspace: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of await foldersUpToRoot(workspace)) {
    for (const place of [folder, join(folder, '.opencode')])
      for (const name of ['opencode.json', 'opencode.jsonc'])
        if (/"plugins?"\s*:/u.test(await readFile(join(place, name), 'utf8').catch(() => '')))
          found.push(join(place, name));
    for (const name of ['plugin', 'plugins']) {
      const modules = await readdir(join(folder, '.opencode', name)).catch(() => []);
      found.push(
        ...modules.filter((file) => /\.[tj]s$/u.test(file)).map((file) => join(folder, '.opencode', name, file)),
      );
    }
  }
  return found;
}

/** A folder and those above it up to the root of its repository; itself alone where there is none. */
async function foldersUpToRoot(workspace: string): Promise<string[]> {
  const folders: string[] = [];
  const start = await realpath(workspace).catch(() => workspace);
  for (let folder = start; ; folder = dirname(folder)) {
    folders.push(folder);
    const isRoot = await stat(join(folder, '.git')).then(
      () => true,
      () => false,
    );
    if (isRoot) return folders;
    if (folder === dirname(folder)) return [start];
  }
}
