/**
 * Which folder of src may import what: docs/architecture.md, "Direction". The lint rules (oxlint.config.ts) and
 * the architecture test are both made from this table.
 */

const pure = ['task', 'run', 'options', 'experiments', 'archive', 'review', 'analysis'] as const;
const tools = ['ledger', 'snapshots', 'agents', 'evaluators', 'machines'] as const;

/** What one folder of src may import: other folders of src (its own always), and which modules of Node. */
export interface Direction {
  readonly folders: readonly string[];
  /** Folders of which only the types in `port.ts` may be known, by `import type`: a contract, never its implementation. */
  readonly ports: readonly string[];
  /** 'any', or the names of the few that do no I/O. */
  readonly node: 'any' | readonly string[];
}

const withoutInput = ['path', 'url', 'util', 'assert'] as const;
const noun: Direction = { folders: ['base', ...pure], ports: tools, node: withoutInput };
const tool: Direction = { folders: ['base', ...pure, ...tools], ports: [], node: 'any' };
const all: Direction = { folders: ['base', ...pure, ...tools, 'protocol'], ports: [], node: 'any' };

/** The folders of src by name. A folder that isn't named here fails the architecture test. */
export const directions: Readonly<Record<string, Direction>> = {
  base: { folders: [], ports: [], node: 'any' },
  ...Object.fromEntries(pure.map((name) => [name, noun])),
  ...Object.fromEntries(tools.map((name) => [name, tool])),
  protocol: noun,
  controller: all,
  client: all,
  window: { ...all, folders: [...all.folders, 'client'] },
  session: { folders: ['base', 'protocol'], ports: [], node: 'any' },
  cli: { ...all, folders: [...all.folders, 'client', 'controller'] },
};

/**
 * The rim of a pure noun: its files that read or write, where the noun meets the disk. They may use all of Node; no other
 * file of a pure noun may import them, so that what decides and evolves stays pure.
 */
export const rims: ReadonlySet<string> = new Set([
  'task/files.ts',
  'task/freeze.ts',
  'task/jsonSchema.ts',
  'task/load.ts',
  'task/readText.ts',
]);

/** Whether a folder of src does no input or output, but for its rim. */
export const isPure = (folder: string): boolean => directions[folder] === noun;

/** The files directly in src: where a process starts. The extension doesn't know the controller, the others don't know the window. */
export const starts: Readonly<Record<string, Direction>> = {
  'cli.ts': { ...all, folders: [...all.folders, 'client', 'controller', 'cli', 'session'] },
  'mcp.ts': { folders: ['base', 'protocol', 'session'], ports: [], node: 'any' },
  'drive.ts': { folders: ['base', 'agents'], ports: [], node: 'any' },
  'session.ts': { folders: ['base', 'protocol', 'session'], ports: [], node: 'any' },
  'extension.ts': { ...all, folders: [...all.folders, 'client', 'window'] },
};

/** Where `vscode` may be imported: a path relative to src. */
export const knowsVscode = (path: string): boolean => path === 'extension.ts' || path.startsWith('window/');
