import { ok, refused, type Result } from '../base/result.ts';
import type { AgentChoice } from '../task/model.ts';

/** Where a preset leads one harness. */
export interface PresetEndpoint {
  readonly baseUrl: string;
  /** Its strongest model for agents when this was checked; null = the author names one. */
  readonly model: string | null;
  /** null = the harness's highest. */
  readonly effort: string | null;
}

/** A named provider whose endpoint speaks the protocol of some harnesses. Plain data: a newer model is an edit here, or `model:` in hma.yaml. */
export interface Preset {
  readonly name: string;
  readonly title: string;
  /** Name of the environment variable that holds the key. */
  readonly keyVariable: string;
  /** Day on which the facts were looked up, and where. Nothing here was tried with a key. */
  readonly checked: string;
  readonly sources: readonly string[];
  /** By adapter: those whose protocol it speaks. */
  readonly endpoints: Readonly<Record<string, PresetEndpoint>>;
}

const checked = '2026-11-30';

/** The same OpenAI-compatible (chat completions) endpoint for the harnesses that speak it. */
const chat = (baseUrl: string, model: string | null): Preset['endpoints'] => {
  const endpoint = { baseUrl, model, effort: null };
  return { opencode: endpoint, qwen: endpoint };
};

/** All presets. */
export const presets: readonly Preset[] = [
  {
    name: 'glm',
    title: 'GLM (Z.ai)',
    keyVariable: 'ZAI_API_KEY',
    checked,
    sources: [
      'https://docs.z.ai/scenario-example',
      'https://docs.z.ai/devpack/quick-start.md',
      'https://pypi.org/project/glm-launch/',
    ],
    endpoints: {
      'claude-code': { baseUrl: 'https://api.z.ai/api/anthropic', model: 'glm-5.3', effort: null },
      ...chat('https://api.z.ai/api/coding/paas/v4', 'glm-5.3'),
    },
  },
  {
    name: 'deepseek',
    title: 'DeepSeek',
    keyVariable: 'DEEPSEEK_API_KEY',
    checked,
    sources: ['https://api-docs.deepseek.com/guides/anthropic_api.md'],
    endpoints: {
      'claude-code': { baseUrl: 'https://api.deepseek.com/anthropic', model: 'deepseek-v4-pro', effort: null },
      ...chat('https://api.deepseek.com/v1', 'deepseek-v4-pro'),
    },
  },
  {
    name: 'kimi',
    title: 'Kimi (Moonshot AI)',
    keyVariable: 'MOONSHOT_API_KEY',
    checked,
    sources: [
      'https://forum.moonshot.ai/t/do-we-have-offical-guide-for-using-k2-in-claude-code/84',
      'https://raw.githubusercontent.com/Agents365-ai/dsclaude/main/kmclaude',
    ],
    endpoints: {
      'claude-code': { baseUrl: 'https://api.moonshot.ai/anthropic', model: 'kimi-k3', effort: null },
      kimi: { baseUrl: 'https://api.moonshot.ai/v1', model: 'kimi-k3', effort: null },
      ...chat('https://api.moonshot.ai/v1', 'kimi-k3'),
    },
  },
  {
    name: 'minimax',
    title: 'MiniMax',
    keyVariable: 'MINIMAX_API_KEY',
    checked,
    sources: ['https://platform.minimax.io/docs/api-reference/text-anthropic-api.md'],
    endpoints: { 'claude-code': { baseUrl: 'https://api.minimax.io/anthropic', model: 'MiniMax-M3', effort: null } },
  },
  {
    name: 'openrouter',
    title: 'OpenRouter',
    keyVariable: 'OPENROUTER_API_KEY',
    checked,
    sources: [
      'https://openrouter.ai/docs/guides/coding-agents/claude-code-integration',
      'https://openrouter.ai/docs/guides/coding-agents/codex-cli',
    ],
    endpoints: {
      'claude-code': { baseUrl: 'https://openrouter.ai/api', model: null, effort: null },
      codex: { baseUrl: 'https://openrouter.ai/api/v1', model: null, effort: null },
      ...chat('https://openrouter.ai/api/v1', null),
    },
  },
];

/** Why a preset can't be used, in words for the task's author. */
export interface PresetRefusal {
  readonly reason: 'unknown_preset' | 'preset_not_for_adapter' | 'preset_needs_model';
  readonly detail: string;
}

const inTicks = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

/**
 * An agent with what its preset says filled in where the author said nothing; an agent without a preset as it is. Idempotent. Refuses
 * a preset that does not exist or that does not speak the harness's protocol, and one that names no model where the author names none.
 */
export function withPreset<Choice extends Pick<AgentChoice, 'name' | 'adapter' | 'preset' | 'model' | 'baseUrl'>>(
  choice: Choice,
): Result<Choice, PresetRefusal> {
  if (choice.preset === undefined) return ok(choice);
  const preset = presets.find(({ name }) => name === choice.preset);
  if (!preset) {
    const detail = `agent ${choice.name} names the preset \`${choice.preset}\`, which does not exist; use one of ${inTicks(presets.map(({ name }) => name))}, or write \`baseUrl\`, \`keyVariable\` and \`model\` yourself`;
    return refused({ reason: 'unknown_preset', detail });
  }
  const { endpoints } = preset;
  const endpoint = Object.hasOwn(endpoints, choice.adapter) ? endpoints[choice.adapter] : undefined;
  if (!endpoint) {
    const detail = `the preset \`${preset.name}\` of agent ${choice.name} does not speak the protocol of the adapter \`${choice.adapter}\`; it is for ${inTicks(Object.keys(endpoints))}`;
    return refused({ reason: 'preset_not_for_adapter', detail });
  }
  if (choice.model === undefined && endpoint.model === null) {
    const detail = `the preset \`${preset.name}\` leads to many models; add \`model:\` to agent ${choice.name}, as ${preset.title} names it`;
    return refused({ reason: 'preset_needs_model', detail });
  }
  return ok({
    baseUrl: endpoint.baseUrl,
    keyVariable: preset.keyVariable,
    ...(endpoint.model === null ? {} : { model: endpoint.model }),
    ...(endpoint.effort === null ? {} : { effort: endpoint.effort }),
    ...choice,
  });
}
