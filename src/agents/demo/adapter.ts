import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programFolders } from '../../base/program.ts';
import { ok, refused, type Result } from '../../base/result.ts';
import { classifyExit } from '../classifyExit.ts';
import type { AgentAdapter, Launch, PrepareRefusal, SessionContext } from '../port.ts';

/** The bundled demonstration agents: scripts without a model, plainly so named. */
const scripts = ['tuner', 'builder'] as const;

const folderInPackage = join('media', 'sample', 'agents');

/** This module's folder; a CommonJS bundle has no `import.meta.url`, and then the started file's folder is meant. */
function startFolders(): string[] {
  const module: string | undefined = import.meta.url;
  const started = process.argv[1];
  return [...(module ? [dirname(fileURLToPath(module))] : []), ...(started ? [dirname(resolve(started))] : [])];
}

/** The first `media/sample/agents/<script>` upwards from where this code lies: the package, or the runtime folder it was copied to. */
async function locate(script: string, override: string | undefined): Promise<string | null> {
  const candidates: string[] = override === undefined ? [] : [resolve(override)];
  for (const start of override === undefined ? startFolders() : []) {
    for (let folder = start; ; folder = dirname(folder)) {
      candidates.push(join(folder, folderInPackage));
      if (folder === dirname(folder)) break;
    }
  }
  for (const folder of candidates) {
    const file = join(folder, script);
    try {
      await access(file);
      return file;
    } catch {
      // not in this folder; the next one upwards may have it, and the caller says when none has
    }
  }
  return null;
}

async function prepare(context: SessionContext): Promise<Result<Launch, PrepareRefusal>> {
  const { agent, outerEnvironment: outer } = context;
  const script = scripts.find((name) => name === agent.model);
  if (script === undefined) {
    const given = agent.model === undefined ? 'none' : `\`${agent.model}\``;
    const detail = `the demonstration agent ${agent.name} needs \`model: tuner\` or \`model: builder\` (given: ${given})`;
    return refused({ reason: 'not_configured', detail });
  }
  const file = await locate(`${script}.mjs`, outer['HMA_DEMO_AGENTS']);
  if (file === null) {
    const where = outer['HMA_DEMO_AGENTS'] ?? `${folderInPackage} of the installed package`;
    const detail = `the demonstration agent \`${script}.mjs\` is not in ${where}; install again, or set HMA_DEMO_AGENTS to its folder`;
    return refused({ reason: 'not_installed', detail });
  }
  const seed = outer['HMA_DEMO_SEED'];
  return ok({
    argv: [process.execPath, file],
    environment: {
      ...(seed === undefined ? {} : { HMA_DEMO_SEED: seed }),
      ...(process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' }),
    },
    readable: [dirname(file), ...(await programFolders(process.execPath, outer['HOME']))],
    writable: [],
  });
}

/**
 * The two scripted demonstration agents, chosen by `model: tuner | builder`. They run on the controller's own Node binary and need
 * no network and no key. HMA_DEMO_SEED is passed on; HMA_DEMO_AGENTS names another folder for the scripts.
 */
export const demoAdapter: AgentAdapter = {
  name: 'demo',
  capabilities: {
    structuredEvents: false,
    steering: false,
    cleanInterrupt: true,
    sessionId: 'none',
    tokens: 'none',
    cost: false,
    effort: false,
    goal: 'reprompt',
    mcp: false,
  },
  politeSignal: 'SIGTERM',
  politeTo: 'tree',
  graceMs: 2000,
  lingerMs: 50,
  prepare,
  classify: classifyExit,
};
