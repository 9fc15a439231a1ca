import type { ContractCode } from './codes.ts';
import type { AgentSlot, Contract } from './model.ts';
import { meant } from './nearest.ts';
import type { Report } from './programs.ts';

/** A preset as far as a contract is checked against it: its name, its title, and for each adapter it is for the model it leads to. */
export interface KnownPreset {
  readonly name: string;
  readonly title: string;
  readonly endpoints: Readonly<Record<string, { readonly model: string | null }>>;
}

/** Checks that the agents' adapters and presets exist and fit together. Without a list any name passes. */
export function checkAgents(
  contract: Contract,
  known: { readonly adapters?: readonly string[] | undefined; readonly presets?: readonly KnownPreset[] | undefined },
  report: Report,
): void {
  for (const slot of ['A', 'B'] as const) {
    const fits = !known.adapters || checkAdapter(slot, { contract, adapters: known.adapters }, report);
    if (fits && known.presets) checkPreset(slot, { contract, presets: known.presets }, report);
  }
}

function checkAdapter(
  slot: AgentSlot,
  { contract, adapters }: { readonly contract: Contract; readonly adapters: readonly string[] },
  report: Report,
): boolean {
  const { adapter } = contract.agents[slot];
  if (adapters.includes(adapter)) return true;
  const near = meant(adapter, adapters);
  report({
    severity: 'error',
    code: 'unknown_adapter',
    path: ['agents', slot, 'adapter'],
    what: `\`agents.${slot}\`: there is no adapter \`${adapter}\``,
    fix: near ? `Did you mean ${near}?` : `Write one of: ${adapters.join(', ')}.`,
  });
  return false;
}

const inTicks = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

function checkPreset(
  slot: AgentSlot,
  { contract, presets }: { readonly contract: Contract; readonly presets: readonly KnownPreset[] },
  report: Report,
): void {
  const { preset: name, adapter, model } = contract.agents[slot];
  if (name === undefined) return;
  const key = `\`agents.${slot}.preset\``;
  const wrong = (code: ContractCode, what: string, fix: string): void =>
    report({ severity: 'error', code, path: ['agents', slot, 'preset'], what: `${key}: ${what}`, fix });
  const preset = presets.find((one) => one.name === name);
  if (!preset) {
    const names = presets.map((one) => one.name);
    const near = meant(name, names);
    const others = `Write one of ${names.join(', ')}; or baseUrl, keyVariable and model yourself.`;
    return wrong('unknown_preset', `there is no preset \`${name}\``, near ? `Did you mean ${near}?` : others);
  }
  const endpoint = Object.hasOwn(preset.endpoints, adapter) ? preset.endpoints[adapter] : undefined;
  if (!endpoint)
    return wrong(
      'preset_not_for_adapter',
      `the preset \`${name}\` does not speak the protocol of the adapter \`${adapter}\``,
      `It is for ${inTicks(Object.keys(preset.endpoints))}: choose one of these adapters, or another preset.`,
    );
  if (model === undefined && endpoint.model === null)
    wrong(
      'preset_needs_model',
      `the preset \`${name}\` leads to many models, and none is named`,
      `Add \`model:\` beside it, as ${preset.title} names it.`,
    );
}
