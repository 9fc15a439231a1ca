import { ok, refused, type Result } from '../base/result.ts';
import type { AgentChoice } from '../task/model.ts';
import type { AdapterName } from './adapterNames.ts';
import { claudeCodeAdapter } from './claudeCode/adapter.ts';
import { codexAdapter } from './codex/adapter.ts';
import { commandAdapter } from './command/adapter.ts';
import { demoAdapter } from './demo/adapter.ts';
import { geminiAdapter } from './gemini/adapter.ts';
import { kimiAdapter } from './kimi/adapter.ts';
import { opencodeAdapter } from './opencode/adapter.ts';
import type { AgentAdapter } from './port.ts';
import { withPreset, type PresetRefusal } from './presets.ts';
import { qwenAdapter } from './qwen/adapter.ts';

/** All harnesses this version can start, by the name that `agents.*.adapter` uses. */
export const adapters: Readonly<Record<string, AgentAdapter>> = {
  command: commandAdapter,
  demo: demoAdapter,
  'claude-code': claudeCodeAdapter,
  codex: codexAdapter,
  kimi: kimiAdapter,
  gemini: geminiAdapter,
  qwen: qwenAdapter,
  opencode: opencodeAdapter,
} satisfies Readonly<Record<AdapterName, AgentAdapter>>;

/** Harnesses that are planned, so that their names are answered with more than "unknown". */
const planned = ['copilot'];

/** Why a choice names no adapter, or a preset that its adapter can't use; in words for the task's author. */
export interface AdapterRefusal {
  readonly reason: 'unknown_adapter' | PresetRefusal['reason'];
  readonly detail: string;
}

/** The adapter of an agent, whose preset (where it names one) exists and is for this adapter. */
export function adapterFor(
  choice: Pick<AgentChoice, 'name' | 'adapter' | 'preset' | 'model' | 'baseUrl'>,
): Result<AgentAdapter, AdapterRefusal> {
  const adapter = Object.hasOwn(adapters, choice.adapter) ? adapters[choice.adapter] : undefined;
  if (adapter) {
    const preset = withPreset(choice);
    return preset.ok ? ok(adapter) : preset;
  }
  const known = Object.keys(adapters).map((name) => `\`${name}\``);
  const detail = planned.includes(choice.adapter)
    ? `the adapter \`${choice.adapter}\` of agent ${choice.name} is not available yet in this version; use the adapter \`command\` with its command line`
    : `agent ${choice.name} names the adapter \`${choice.adapter}\`, which does not exist; use one of ${known.join(', ')}`;
  return refused({ reason: 'unknown_adapter', detail });
}
