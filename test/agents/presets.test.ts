import { describe, expect, it } from 'vitest';
import { presets, withPreset } from '../../src/agents/presets.ts';
import type { AgentChoice } from '../../src/task/model.ts';

const choice = (parts: Partial<AgentChoice>): AgentChoice => ({
  name: 'mine',
  adapter: 'claude-code',
  prompt: 'file',
  environment: [],
  ...parts,
});
const detailOf = (parts: Partial<AgentChoice>): string => {
  const found = withPreset(choice(parts));
  if (found.ok) throw new Error('it was not refused');
  return found.refusal.detail;
};

describe('a preset', () => {
  it('fills in what the author left out, and only that', () => {
    const filled = withPreset(choice({ preset: 'glm' }));
    expect(filled).toEqual({
      ok: true,
      value: choice({
        preset: 'glm',
        baseUrl: 'https://api.z.ai/api/anthropic',
        keyVariable: 'ZAI_API_KEY',
        model: 'glm-5.3',
      }),
    });
    const own = choice({
      preset: 'glm',
      model: 'glm-4.5-air',
      keyVariable: 'GLM',
      baseUrl: 'http://127.0.0.1:1',
      effort: 'low',
    });
    expect(withPreset(own)).toEqual({ ok: true, value: own });
    expect(filled.ok && withPreset(filled.value)).toEqual(filled);
    expect(withPreset(choice({}))).toEqual({ ok: true, value: choice({}) });
  });

  it('leads each harness to the endpoint that speaks its protocol', () => {
    expect(withPreset(choice({ preset: 'deepseek', adapter: 'opencode' }))).toMatchObject({
      ok: true,
      value: { baseUrl: 'https://api.deepseek.com/v1', keyVariable: 'DEEPSEEK_API_KEY' },
    });
    expect(detailOf({ preset: 'glm', adapter: 'codex' })).toBe(
      'the preset `glm` of agent mine does not speak the protocol of the adapter `codex`; it is for `claude-code`, `opencode`, `qwen`',
    );
    expect(detailOf({ preset: 'glm', adapter: 'constructor' })).toContain('does not speak');
  });

  it('is refused with the list when it does not exist, and asks for a model where it has none', () => {
    for (const preset of ['gml', 'toString', ''])
      expect(detailOf({ preset })).toContain('use one of `glm`, `deepseek`, `kimi`, `minimax`, `openrouter`');
    expect(detailOf({ preset: 'openrouter' })).toContain('add `model:` to agent mine');
    expect(withPreset(choice({ preset: 'openrouter', model: 'x/y' }))).toMatchObject({
      ok: true,
      value: { model: 'x/y' },
    });
  });

  it('says when and where its facts were found', () => {
    expect(new Set(presets.map(({ name }) => name)).size).toBe(presets.length);
    for (const preset of presets) {
      expect(preset.checked).toMatch(/^\d{4}-\d\d-\d\d$/u);
      expect(preset.sources.every((source) => URL.canParse(source))).toBe(true);
      expect(preset.keyVariable).toMatch(/^[A-Z][A-Z0-9_]+$/u);
      for (const endpoint of Object.values(preset.endpoints)) expect(new URL(endpoint.baseUrl).protocol).toBe('https:');
    }
  });
});
