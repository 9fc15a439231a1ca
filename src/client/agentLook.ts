import { adapters } from '../agents/adapters.ts';
import { hasLogin, holderOf, loginFolder } from '../agents/loginStore.ts';
import type { AgentAdapter, Capabilities, Harness } from '../agents/port.ts';
import { presets } from '../agents/presets.ts';
import type { AgentChoice } from '../task/model.ts';

/** How a harness would be let in: by a key in a variable, by a login of ours, or not at all. */
export type SignedIn =
  | { readonly by: 'key'; readonly variable: string }
  | { readonly by: 'login'; readonly heldBy: string | null }
  | { readonly by: 'nothing'; readonly variables: readonly string[]; readonly canLogin: boolean };

/** A harness as it is on this machine. */
export interface AgentLook {
  readonly adapter: string;
  readonly title: string;
  readonly install: string;
  /** null = not found; `why` says where it was looked for. */
  readonly program: string | null;
  readonly why: string;
  readonly version: string | null;
  readonly tested: readonly string[];
  /** How the version stands to those that are tested; `unknown` where it tells none or is not found. */
  readonly known: 'tested' | 'older' | 'newer' | 'between' | 'unknown';
  readonly signedIn: SignedIn;
  readonly capabilities: Capabilities;
}

/** A preset as it is on this machine. */
export interface PresetLook {
  readonly name: string;
  readonly title: string;
  readonly adapters: readonly string[];
  readonly keyVariable: string;
  readonly keySet: boolean;
}

/** What is asked for: the environment, and $HMA_HOME. */
export interface LookingPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** Adapters that drive a product of its maker, with its harness. */
export const harnesses = (): { readonly name: string; readonly adapter: AgentAdapter; readonly harness: Harness }[] =>
  Object.entries(adapters).flatMap(([name, adapter]) =>
    adapter.harness ? [{ name, adapter, harness: adapter.harness }] : [],
  );

/** Looks at one harness as a task would use it: finds the program, asks its version, looks for key and login. Up to 20 s. */
export async function lookAtAgent(choice: AgentChoice, place: LookingPlace): Promise<AgentLook | null> {
  const adapter = Object.hasOwn(adapters, choice.adapter) ? adapters[choice.adapter] : undefined;
  const harness = adapter?.harness;
  if (!adapter || !harness) return null;
  const found = await harness.find(choice, place.env);
  const version = found.ok ? found.value.version : null;
  return {
    adapter: choice.adapter,
    title: harness.title,
    install: harness.install,
    program: found.ok ? found.value.program : null,
    why: found.ok ? '' : found.refusal.detail,
    version,
    tested: harness.tested,
    known: standing(version, harness.tested),
    signedIn: signedIn(choice, harness, place),
    capabilities: adapter.capabilities,
  };
}

/** All harnesses this version knows, as they are here. */
export const lookAtAgents = async (place: LookingPlace): Promise<AgentLook[]> => {
  const looks = await Promise.all(
    harnesses().map(({ name }) => lookAtAgent({ name, adapter: name, prompt: 'file', environment: [] }, place)),
  );
  return looks.filter((look) => look !== null);
};

/** All presets, and whether their key is set here. */
export const lookAtPresets = ({ env }: LookingPlace): PresetLook[] =>
  presets.map(({ name, title, endpoints, keyVariable }) => ({
    name,
    title,
    adapters: Object.keys(endpoints).filter((adapter) => Object.hasOwn(adapters, adapter)),
    keyVariable,
    keySet: Boolean(env[keyVariable]),
  }));

function signedIn(choice: AgentChoice, harness: Harness, { env, home }: LookingPlace): SignedIn {
  const preset = presets.find(({ name }) => name === choice.preset);
  const named = choice.keyVariable ?? preset?.keyVariable;
  const variables = named === undefined ? harness.keys : [named];
  const variable = variables.find((name) => env[name]);
  if (variable !== undefined) return { by: 'key', variable };
  const canLogin = named === undefined && harness.login !== null;
  if (!canLogin || !harness.login) return { by: 'nothing', variables, canLogin };
  const place = { folder: loginFolder(home, choice.adapter), plan: harness.login };
  return hasLogin(place)
    ? { by: 'login', heldBy: holderOf(place)?.run ?? null }
    : { by: 'nothing', variables, canLogin };
}

function standing(version: string | null, tested: readonly string[]): AgentLook['known'] {
  const [first, last] = [tested[0], tested.at(-1)];
  if (version === null || first === undefined || last === undefined) return 'unknown';
  if (tested.includes(version)) return 'tested';
  if (compareVersions(version, first) < 0) return 'older';
  return compareVersions(version, last) > 0 ? 'newer' : 'between';
}

/** Compares by the numbers in order; what follows them (a pre-release) doesn't count. */
export function compareVersions(one: string, other: string): number {
  const numbers = (version: string): number[] => (/^\D*([\d.]+)/u.exec(version)?.[1] ?? '0').split('.').map(Number);
  const [a, b] = [numbers(one), numbers(other)];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** How a harness is signed in, in words. */
export function saySignedIn(signed: SignedIn, adapter: string): string {
  switch (signed.by) {
    case 'key':
      return `key in ${signed.variable}`;
    case 'login':
      return signed.heldBy === null ? 'signed in' : `signed in; run ${signed.heldBy} has the login now`;
    case 'nothing': {
      const [variable] = signed.variables;
      const how = [variable === undefined ? '' : `set ${variable}`, signed.canLogin ? `hma login ${adapter}` : ''];
      return `not signed in: ${how.filter((one) => one !== '').join(', or ')}`;
    }
  }
}

/** How a version stands to the tested ones, in words. */
export const sayVersion = ({ version, known, tested }: Pick<AgentLook, 'version' | 'known' | 'tested'>): string =>
  version === null
    ? 'tells no version'
    : known === 'tested'
      ? `${version} (tested)`
      : `${version} (tested: ${tested.join(', ')})`;
