import { setTimeout as sleep } from 'node:timers/promises';

import type { AgentAdapter } from '../agents/port.ts';
import { identify } from '../machines/processes.ts';
import type { AgentChoice } from '../task/model.ts';
import { loginFolder, releaseLogin, syncLogin, takeLogin, type LoginPlace } from '../agents/loginStore.ts';
import type { Room } from './room.ts';

/** How often a running session's login is looked at, ms: what it renewed is safe so soon after. */
const syncMs = 2000;
/** How often a login that another run's session has is asked for, ms. */
const askMs = 1000;

/** The login that a session of this agent needs: none where a key is at hand, or where it works in the user's own HOME. */
function placeOf(room: Room, adapter: AgentAdapter, agent: AgentChoice): LoginPlace | null {
  const { harness } = adapter;
  if (!harness?.login || !room.contract.isolation.ownHome) return null;
  const keyed = agent.keyVariable !== undefined || agent.preset !== undefined;
  if (keyed || harness.keys.some((name) => room.env[name])) return null;
  return { folder: loginFolder(room.home, agent.adapter), plan: harness.login };
}

/** One attempt whose harness may need a login. */
export interface LoginSession {
  readonly adapter: AgentAdapter;
  readonly agent: AgentChoice;
  readonly nonce: string;
}

/** Where it is brought to. */
export interface LoginTaker {
  readonly dir: string;
  readonly home: string;
  /** Whether the session is still to start. */
  wanted(): boolean;
}

/**
 * Puts the login into a session's fresh HOME. While a session of another run has it, this one waits: two that renew the same token
 * lose the login for both. `wanted` is asked meanwhile; false = given up.
 */
export async function bringLogin(room: Room, session: LoginSession & LoginTaker): Promise<boolean> {
  const place = placeOf(room, session.adapter, session.agent);
  if (!place) return true;
  let told = false;
  for (;;) {
    const taken = await takeLogin(place, {
      run: room.recorder.state.run,
      dir: session.dir,
      nonce: session.nonce,
      home: session.home,
      controller: identify(process.pid) ?? { pid: process.pid, start: '' },
      since: room.clock.now().wall,
    });
    if (taken.kind !== 'held') return true;
    if (!told) {
      const text = `${session.agent.name} waits for its login, which a session of run ${taken.holder.run} has: one session at a time may renew it. A key in a variable has no such limit`;
      room.recorder.append([{ type: 'run.noticed', data: { level: 'warning', code: 'login_held', text } }]);
      told = true;
    }
    await sleep(askMs);
    if (!session.wanted()) return false;
  }
}

/** Follows the login of one session. */
export interface FollowedLogin extends Disposable {
  /** After the session's end, before its HOME is removed: what is newer is kept, and the login is free for others. */
  finish(): Promise<void>;
}

/** Keeps what a session renews, while it runs; also after this controller was started again. */
export function followLogin(room: Room, session: LoginSession | null): FollowedLogin {
  const place = session && placeOf(room, session.adapter, session.agent);
  if (!session || !place) return { finish: async () => undefined, [Symbol.dispose]: () => undefined };
  const failed = (error: unknown): void => room.log(`login of ${session.agent.name}: ${String(error)}`);
  let looking: Promise<void> | null = null;
  const timer = setInterval(() => {
    looking ??= syncLogin(place, session.nonce)
      .catch(failed)
      .finally(() => (looking = null));
  }, syncMs);
  return {
    async finish() {
      clearInterval(timer);
      await looking;
      await releaseLogin(place, session.nonce).catch(failed);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
