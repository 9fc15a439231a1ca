import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Calls one tool of a real `hma mcp` over its stdio and gives the answer's text; `isError: ` before it where it was one. */
export async function callMcp(
  name: string,
  given: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const file = join(import.meta.dirname, '../../src/mcp.ts');
  const child = spawn(process.execPath, ['--no-warnings', file], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  const deadline = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  try {
    for await (const line of createInterface(child.stdout)) {
      const reply = JSON.parse(line) as {
        readonly id?: number;
        readonly error?: { readonly message: string };
        readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text: string }[] };
      };
      if (reply.id === 1) {
        send({ method: 'notifications/initialized' });
        send({ id: 2, method: 'tools/call', params: { name, arguments: given } });
      }
      if (reply.id !== 2) continue;
      if (reply.error) return `error: ${reply.error.message}`;
      const text = reply.result?.content?.map((part) => part.text).join('\n') ?? '';
      return `${reply.result?.isError ? 'isError: ' : ''}${text}`;
    }
    return 'no answer within 20 s';
  } finally {
    clearTimeout(deadline);
    child.kill('SIGKILL');
  }
}
