/** Variables of a session that an MCP server of ours needs, for harnesses that hand on only what is named. */
export const sessionVariables = [
  'HMA_ROLE',
  'HMA_OPTION',
  'HMA_ATTEMPT',
  'HMA_WORKSPACE',
  'HMA_PROMPT',
  'HMA_TOKEN',
  'HMA_SOCKET',
  'HMA_RUN',
  'TMPDIR',
] as const;
