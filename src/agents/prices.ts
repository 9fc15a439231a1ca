import type { ModelPrice, Prices } from '../analysis/usage.ts';

/** Day on which the table was looked up. Prices change without notice: `prices.json` overrides what is here (docs/prices.md). */
const asOf = '2026-11-30';

const anthropic = 'https://platform.claude.com/docs/en/about-claude/pricing';
const openai = 'https://developers.openai.com/api/docs/pricing';
const google = 'https://ai.google.dev/gemini-api/docs/pricing';
const zai = 'https://docs.z.ai/guides/overview/pricing';
const moonshot = 'https://platform.kimi.ai/docs/pricing/chat-k3';
const deepseek = 'https://api-docs.deepseek.com/quick_start/pricing';

/** USD per million tokens: uncached input, cached input, output, and a write into the cache where that has a price of its own. */
function price(source: string, [input, cachedInput, output, cacheWrite]: readonly number[]): ModelPrice {
  if (input === undefined || cachedInput === undefined || output === undefined) throw new Error('a price is missing');
  return { input, cachedInput, output, ...(cacheWrite === undefined ? {} : { cacheWrite }), asOf, source };
}

const opus = price(anthropic, [5, 0.5, 25, 6.25]);
const oldOpus = price(anthropic, [15, 1.5, 75, 18.75]);
const oldSonnet = price(anthropic, [3, 0.3, 15, 3.75]);
const glm = price(zai, [1.4, 0.26, 4.4]);
const gpt5 = price(openai, [1.25, 0.125, 10]);

/**
 * List prices of the makers' own endpoints, standard tier, for pay by use; a subscription is billed otherwise. Where a maker asks more
 * for long prompts (OpenAI above 272k tokens, Google above 200k) the price of short ones stands here; where it asks less at some hours
 * (DeepSeek), the higher one. Writes into a cache are those that live for five minutes. A model whose price can't be told without
 * more than this (Claude Haiku 5.5: five times as much above 100k tokens) is left out, and shown as unknown.
 */
export const defaultPrices: Prices = {
  'claude-fable-5-1': price(anthropic, [10, 0.25, 50, 12.5]),
  'claude-fable-5': price(anthropic, [10, 1, 50, 12.5]),
  'claude-opus-5-5': price(anthropic, [4, 0.2, 20, 5]),
  'claude-opus-5': opus,
  'claude-opus-4-8': opus,
  'claude-opus-4-7': opus,
  'claude-opus-4-6': opus,
  'claude-opus-4-5': opus,
  'claude-opus-4-1': oldOpus,
  'claude-opus-4': oldOpus,
  'claude-sonnet-5-5': price(anthropic, [2, 0.1, 10, 2.5]),
  'claude-sonnet-5': price(anthropic, [2, 0.2, 10, 2.5]),
  'claude-sonnet-4-6': oldSonnet,
  'claude-sonnet-4-5': oldSonnet,
  'claude-sonnet-4': oldSonnet,
  'claude-haiku-4-5': price(anthropic, [1, 0.1, 5, 1.25]),
  'gpt-6-astra': price(openai, [10, 1, 50]),
  'gpt-6.1-sol': price(openai, [2, 0.1, 10, 2.5]),
  'gpt-6-sol': price(openai, [2, 0.2, 10, 2.5]),
  'gpt-6.1-terra': price(openai, [1, 0.05, 5, 1.25]),
  'gpt-6-luna': price(openai, [0.1, 0.01, 0.5, 0.125]),
  'gpt-5.6-terra': price(openai, [2, 0.2, 12]),
  'gpt-5.6-luna': price(openai, [0.2, 0.02, 1.2]),
  'gpt-5.4': price(openai, [2.5, 0.25, 15]),
  'gpt-5.4-mini': price(openai, [0.75, 0.075, 4.5]),
  'gpt-5-codex': gpt5,
  'gpt-5': gpt5,
  'gemini-3.1-pro': price(google, [2, 0.2, 12]),
  'gemini-3-flash': price(google, [0.5, 0.05, 3]),
  'gemini-2.5-pro': price(google, [1.25, 0.125, 10]),
  'gemini-2.5-flash': price(google, [0.3, 0.03, 2.5]),
  'glm-5.3': glm,
  'glm-5.2': glm,
  'kimi-k3': price(moonshot, [3, 0.3, 15]),
  'deepseek-v4-pro': price(deepseek, [1.32, 0.044, 3.96]),
  'deepseek-flash': price(deepseek, [0.3, 0.006, 1.2]),
};
