import type { SessionContext } from '../port.ts';

/** Its tools that work without being asked for: all but those that hand over to other agents' CLIs or to a browser. */
const allowed = [
  'run_shell_command',
  'read_file',
  'write_file',
  'edit',
  'notebook_edit',
  'glob',
  'grep_search',
  'list_directory',
  'agent',
  'skill',
  'monitor',
  'web_fetch',
  'web_search',
];

/**
 * Qwen Code's user settings for one session. Folder trust is on and the workspace is trusted nowhere, so its settings, hooks, MCP
 * servers and environment files are not loaded. In such a folder Qwen Code has no mode that never asks, but its allow list counts: what is on
 * it works unasked, and anything else is refused, as nobody can answer. `maxRetries` is that of the client inside of its own seven tries.
 */
export const settingsFor = ({ agent }: Pick<SessionContext, 'agent'>): object => ({
  $version: 4,
  security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: true } },
  general: { enableAutoUpdate: false, checkpointing: { enabled: false } },
  memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  ide: { enabled: false },
  disableAllHooks: true,
  permissions: { allow: allowed },
  model: {
    generationConfig: {
      maxRetries: 0,
      ...(agent.effort === undefined ? {} : { reasoning: { effort: agent.effort } }),
    },
  },
});
