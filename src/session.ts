import { sessionExit } from './protocol/agent.ts';
import { runSession } from './session/main.ts';
import { processOutput } from './session/output.ts';

const words = process.argv.slice(2);
const output = processOutput();

if (words[0] !== 'mcp') process.exitCode = await runSession({ words, env: process.env, output });
else if (process.env['HMA_TOKEN'] && process.env['HMA_SOCKET']) await import(new URL('./mcp.js', import.meta.url).href); // a bundle of its own: the library it needs would slow `hma submit`
else {
  await output.remark(
    'hma mcp: HMA_TOKEN and HMA_SOCKET are not set, so this process belongs to no session. A harness whose MCP servers get no environment must name these variables.\n',
  );
  process.exitCode = sessionExit.unreachable;
}
