import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

import { callTool, toolsOf, type SessionTool, type ToolArgument } from './session/mcpTools.ts';

/**
 * `hma mcp`: the session's commands as tools over stdio, for harnesses that prefer tools to a shell. Both generations of the protocol
 * are served by the library. One process per session; it ends with its stdin.
 */

const schemaOf = ({ type, optional, says }: ToolArgument): z.ZodType<string | number | undefined> => {
  const error = ({ input }: { readonly input?: unknown }): string =>
    `${input === undefined ? 'is missing' : `must be a ${type}`}. ${says}`;
  const value = (type === 'number' ? z.number({ error }) : z.string({ error })).describe(says);
  return optional ? value.optional() : value;
};

const inputsOf = (tool: SessionTool) =>
  z.strictObject(
    Object.fromEntries(Object.entries(tool.inputs).map(([name, argument]) => [name, schemaOf(argument)])),
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? `there is no ${issue.keys.join(', ')}; write ${Object.keys(tool.inputs).join(', ') || 'no argument'}`
          : undefined,
    },
  );

serveStdio(() => {
  const server = new McpServer({ name: 'hma', version: '1' });
  for (const tool of toolsOf(process.env['HMA_ROLE'])) {
    server.registerTool(
      tool.name,
      { description: tool.says, inputSchema: inputsOf(tool), annotations: { readOnlyHint: tool.readOnly } },
      async (given) => {
        const { text, failed } = await callTool(tool, given, process.env);
        return { content: [{ type: 'text', text }], isError: failed };
      },
    );
  }
  return server;
});
