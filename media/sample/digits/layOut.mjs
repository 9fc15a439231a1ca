import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Lays the sample task out: the workspace where it is asked for, the hidden labels and the grader in a folder apart.
 *
 *   node layOut.mjs <workspace> <hidden> [--seed N]
 */

const here = fileURLToPath(new URL('.', import.meta.url));

/**
 * @param {string} targetWorkspace becomes the workspace; must be absent or empty
 * @param {string} hiddenTarget becomes the folder that agents can't read; must be outside the workspace, absent or empty
 * @param {object} [options]
 * @param {number} [options.seed] of the demonstration agents; an odd one lets agent A begin, an even one B. Default 1
 * @param {string} [options.agents] folder to copy the demonstration agents to; default: run them where they lie
 * @param {string} [options.node] the program that runs them; default `node`
 * @param {'A' | 'B'} [options.first]
 * @param {number | 'none'} [options.cap] default 3
 * @param {number | 'none'} [options.experiments] default 12
 * @param {string} [options.total] default `10m`
 * @param {string} [options.review] default `1m`
 * @returns {{ workspace: string, hidden: string, agents: string, contract: string }} absolute paths
 * @throws when a target isn't empty or the hidden folder lies inside the workspace
 */
export function layOut(targetWorkspace, hiddenTarget, options = {}) {
  const { seed = 1, node = 'node', cap = 3, experiments = 12, total = '10m', review = '1m' } = options;
  if (`${resolve(hiddenTarget)}/`.startsWith(`${resolve(targetWorkspace)}/`)) {
    throw new Error(
      `the hidden folder ${hiddenTarget} lies inside the workspace ${targetWorkspace}, where agents could read it; choose another`,
    );
  }
  const workspace = emptyFolder(targetWorkspace);
  const hidden = emptyFolder(hiddenTarget);
  const bundled = join(here, '../agents');
  const agents = options.agents === undefined ? resolve(bundled) : emptyFolder(options.agents);
  if (options.agents !== undefined) cpSync(bundled, agents, { recursive: true });
  cpSync(join(here, 'workspace'), workspace, { recursive: true });
  cpSync(join(here, 'hidden'), hidden, { recursive: true });
  copyFileSync(join(here, 'workspace/evaluate.mjs'), join(hidden, 'evaluate.mjs'));

  const contract = join(workspace, 'hma.yaml');
  const first = options.first ?? (seed % 2 === 0 ? 'B' : 'A');
  const words = {
    NODE: node,
    HIDDEN: hidden,
    AGENTS: agents,
    SEED: seed,
    FIRST: first,
    CAP: cap,
    EXPERIMENTS: experiments,
    TOTAL: total,
    REVIEW: review,
  };
  for (const file of [contract, join(hidden, 'private.yaml')])
    writeFileSync(file, filled(readFileSync(file, 'utf8'), words));
  return { workspace, hidden, agents, contract };
}

/** Fills in the words. One that holds a path makes its whole item a quoted string, so that no odd folder name breaks the YAML. */
function filled(text, words) {
  const path = /@(NODE|HIDDEN|AGENTS)@([\w./]*)/g;
  return text
    .replace(/^# The bundled sample task\..*$/m, '# The bundled sample task.')
    .replace(path, (_, name, rest) => JSON.stringify(words[name] + rest))
    .replace(/@([A-Z]+)@/g, (_, name) => String(words[name]));
}

function emptyFolder(path) {
  const folder = resolve(path);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty; the sample is laid out in an empty folder`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [workspace, hidden, flag, seed] = process.argv.slice(2);
  if (!workspace || !hidden || (flag !== undefined && flag !== '--seed')) {
    console.error('usage: node layOut.mjs <workspace> <hidden> [--seed N]');
    process.exit(2);
  }
  console.log(JSON.stringify(layOut(workspace, hidden, { seed: Number(seed ?? 1) }), null, 2));
}
