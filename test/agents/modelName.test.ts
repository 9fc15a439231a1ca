import { expect, it } from 'vitest';

import { isModelAsked } from '../../src/agents/modelName.ts';

it.each([
  ['claude-opus-4-6', 'claude-opus-4-6', true],
  ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929', true],
  ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5', true],
  ['opus', 'claude-opus-4-6', true],
  ['sonnet[1m]', 'claude-sonnet-4-5-20250929', true],
  ['openrouter/z-ai/glm-5', 'z-ai/glm-5', true],
  ['gpt-5-codex', 'gpt-5-codex-2026-01-01', true],
  ['gemini-2.5-pro', 'gemini-2.5-pro-002', true],
  ['gemini-2.5-pro', 'gemini-2.5-flash', false],
  ['opus', 'claude-sonnet-4-5', false],
  ['claude-opus-4-6', 'claude-opus-4-5', false],
  ['gpt-5-codex', 'gpt-5', false],
  ['gpt-5', 'gpt-5-mini', false],
  ['glm-5', 'glm-5-air', false],
])('asked for %s, %s answers: %s', (asked, reported, same) => expect(isModelAsked(asked, reported)).toBe(same));
