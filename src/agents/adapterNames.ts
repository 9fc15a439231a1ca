/** Names of the harnesses that this version can start, without what starts them: for editors and checks. */
export const adapterNames = ['command', 'demo', 'claude-code', 'codex', 'kimi', 'gemini', 'qwen', 'opencode'] as const;

/** One of them. */
export type AdapterName = (typeof adapterNames)[number];

/** Those whose sessions take a message of a person while they run (`capabilities.steering`). */
export const takesMessages: ReadonlySet<string> = new Set<string>(['claude-code', 'codex']);
