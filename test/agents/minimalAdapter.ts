// adapter.ts
import { findProgram, programFolders } from '../../src/base/program.ts';
import { ok, refused } from '../../src/base/result.ts';
import { classifyExit } from '../../src/agents/classifyExit.ts';
import type { AgentAdapter } from '../../src/agents/port.ts';

/** Pear, as its maker ships it: `pear --once FILE` works on what the file asks for, and exits. */
export const pearAdapter: AgentAdapter = {
  name: 'pear',
  capabilities: {
    structuredEvents: false,
    steering: false,
    cleanInterrupt: false,
    sessionId: 'none',
    tokens: 'none',
    cost: false,
    effort: false,
    goal: 'reprompt',
    mcp: false,
  },
  politeSignal: 'SIGINT',
  politeTo: 'program',
  graceMs: 5000,
  lingerMs: 1000,
  async prepare({ agent, promptFile, workspace, outerEnvironment }) {
    const program = await findProgram(agent.program ?? 'pear', { path: outerEnvironment['PATH'], cwd: workspace });
    if (!program.ok)
      return refused({ reason: 'not_installed', detail: `agent ${agent.name} can't start: ${program.refusal.detail}` });
    return ok({
      argv: [program.value, '--once', promptFile],
      environment: { PEAR_NO_UPDATE: '1' },
      readable: await programFolders(program.value, outerEnvironment['HOME']),
      writable: [],
    });
  },
  classify: classifyExit,
};
