import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { codexAdapter } from '../../../src/agents/codex/adapter.ts';
import { startModelServer, type ModelServer } from '../../rig/modelServer.ts';
import { running, tiersHere, uniqueSeconds, until } from '../../machines/machineRoom.ts';
import { startRealSession, untilSaid, type RealSession, type RealSessionWish } from '../realSession.ts';

let server: ModelServer;
const sessions: RealSession[] = [];
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(async () => {
  const all = sessions.splice(0);
  for (const session of all) await session.end();
  for (const session of all) session.close();
  await server[Symbol.asyncDispose]();
});

async function start(wish: Omit<RealSessionWish, 'adapter' | 'tier'> & Partial<RealSessionWish>): Promise<RealSession> {
  const session = await startRealSession({
    adapter: codexAdapter,
    tier: 'none',
    ...wish,
    agent: { model: 'gpt-5.3-codex', baseUrl: `${server.url('s')}/v1`, ...wish.agent },
  });
  sessions.push(session);
  return session;
}

const tiers = tiersHere.filter((tier) => tier !== 'uid');

describe.each(tiers)('Codex in tier %s', (tier) => {
  it('works in the workspace, finds hma, and tells its tokens', async () => {
    server.script('s', [
      { say: 'I look.', think: 'Hm.', shell: 'hma status && echo 7 > candidate.txt && echo "key=[$SCRIPTED_KEY]"' },
      { text: 'Done.' },
    ]);
    const session = await start({ tier });
    const exit = await session.ended();
    expect(session.output()).toContain('this is the shim: status');
    expect(exit).toMatchObject({ cause: 'exit', code: 0 });
  });
});
