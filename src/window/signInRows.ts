import type { AgentLook, SignedIn } from '../client/agentLook.ts';

/** What `hma agents --json` tells of an agent that counts here. */
export type AgentSeen = Pick<AgentLook, 'adapter' | 'title' | 'install' | 'program' | 'signedIn'>;

/** An agent in the list of those that can be signed in. */
export interface AgentRow {
  readonly label: string;
  readonly description: string;
  readonly agent: AgentSeen;
}

/** Whether there is anything to sign in to. */
export const canLogin = ({ signedIn }: AgentSeen): boolean => signedIn.by !== 'nothing' || signedIn.canLogin;

const icons = { key: 'key', login: 'pass', nothing: 'circle-slash' } as const;

/** How an agent is let in now, in a few words. */
function saySigned(signed: SignedIn): string {
  if (signed.by === 'key') return `with the key in ${signed.variable}`;
  if (signed.by === 'login') return signed.heldBy === null ? 'signed in' : `signed in; run ${signed.heldBy} has it now`;
  return signed.canLogin ? 'not signed in' : `not signed in; it takes a key in ${signed.variables[0] ?? 'a variable'}`;
}

/** The agents, those that are installed first. */
export function agentRows(agents: readonly AgentSeen[]): AgentRow[] {
  return agents
    .map((agent) => ({
      label: `$(${icons[agent.signedIn.by]}) ${agent.title}`,
      description: agent.program === null ? 'not installed' : saySigned(agent.signedIn),
      agent,
    }))
    .toSorted((a, b) => Number(a.agent.program === null) - Number(b.agent.program === null));
}
