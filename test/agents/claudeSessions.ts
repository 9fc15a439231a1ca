import { claudeCodeAdapter } from '../../src/agents/claudeCode/adapter.ts';
import { startModelServer, type ModelRequest, type ModelServer, type Script } from '../rig/modelServer.ts';
import { startRealSession, type RealSession, type RealSessionWish } from './realSession.ts';

/** Real sessions of Claude Code against one scripted model server; all are ended and removed at its disposal. */
export interface ClaudeSessions extends AsyncDisposable {
  readonly server: ModelServer;
  /** Starts a session with a script of its own; `name` is the script's. */
  start(
    script: Script,
    wish?: Partial<RealSessionWish>,
  ): Promise<{ readonly session: RealSession; readonly name: string }>;
  /** What a script was asked. */
  requests(name: string): readonly ModelRequest[];
}

/** Starts the server. */
export async function claudeSessions(): Promise<ClaudeSessions> {
  const server = await startModelServer();
  const sessions: RealSession[] = [];
  return {
    server,
    async start(script, wish = {}) {
      const name = `claude${sessions.length + 1}`;
      server.script(name, script);
      const session = await startRealSession({
        adapter: claudeCodeAdapter,
        tier: 'bubblewrap',
        ...wish,
        agent: {
          model: 'claude-opus-5-5',
          baseUrl: server.url(name),
          environment: ['CLAUDE_CODE_MAX_RETRIES'],
          ...wish.agent,
        },
        outer: { CLAUDE_CODE_MAX_RETRIES: '1', ...wish.outer },
      });
      sessions.push(session);
      return { session, name };
    },
    requests: (name) => server.requests.filter(({ script }) => script === name),
    async [Symbol.asyncDispose]() {
      for (const session of sessions) await session.end();
      for (const session of sessions) session.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
