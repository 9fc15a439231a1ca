// A scripted agent that works through the tools of `hma mcp` alone, with the protocol's own client: one submission, a look, and in
// the review a nomination. What it was told goes to its output.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const { HMA_ROLE, HMA_OPTION, HMA_WORKSPACE = '.' } = process.env;
const client = new Client({ name: 'mcp-agent', version: '1' });
await client.connect(new StdioClientTransport({ command: 'hma', args: ['mcp'], env: process.env, stderr: 'inherit' }));

/** @param {string} name @param {Record<string, unknown>} [given] */
const call = async (name, given = {}) => {
  const { content, isError = false } = await client.callTool({ name, arguments: given });
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  console.log(JSON.stringify({ tool: name, failed: isError, text }));
};

const { tools } = await client.listTools();
console.log(JSON.stringify({ tools: tools.map(({ name }) => name) }));
if (HMA_ROLE === 'review') {
  await call('archive');
  await call('nominate', { id: 'e1', reason: 'the first is enough' });
  await call('submit').catch((error) => console.log(JSON.stringify({ tool: 'submit', refused: String(error) })));
} else {
  writeFileSync(join(HMA_WORKSPACE, 'candidate.txt'), `${HMA_OPTION}\n`);
  await call('submit', { note: `--option ${HMA_OPTION}`, score: 0.5 });
  await call('status');
  await call('result', { id: 'e99' });
  await call('archive', { id: 'e1', path: 'candidate.txt' });
}
await client.close();
