import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionContext } from '../../src/agents/port.ts';
import type { AgentChoice } from '../../src/task/model.ts';
import { aFolder } from '../evaluators/folders.ts';

/** A session's context on real folders, with an agent of the `command` adapter. */
export function aSession(agent: Partial<AgentChoice> = {}, parts: Partial<SessionContext> = {}): SessionContext {
  const root = realpathSync(aFolder());
  const [workspace, home, tmp, folder] = ['w', 'home', 'tmp', 'session'].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const each of [workspace, home, tmp, folder]) mkdirSync(each);
  const prompt = parts.prompt ?? 'Improve it.\n';
  const promptFile = join(folder, 'prompt.md');
  writeFileSync(promptFile, prompt);
  return {
    role: 'explore',
    agent: { name: 'mine', adapter: 'command', prompt: 'file', environment: [], ...agent },
    workspace,
    cwd: workspace,
    home,
    tmp,
    folder,
    prompt,
    promptFile,
    option: 3,
    attempt: 1,
    sessionId: '6f1c9a52-0c1f-4d3e-9a51-2f6f7a1d0b11',
    isolated: true,
    hides: true,
    mode: 'alternate',
    drive: [process.execPath, join(import.meta.dirname, '../../dist/drive.js')],
    inbox: join(folder, 'inbox-1.jsonl'),
    login: join(root, 'login'),
    outerEnvironment: { PATH: '/usr/bin:/bin' },
    ...parts,
  };
}
