import type { Fault } from './faults.ts';

/** The four protocols the model server speaks, by their makers' names. */
export type Api = 'anthropic' | 'responses' | 'chat' | 'gemini';

/** Tokens of one response in HMA's words: input split without overlap, output with reasoning. */
export interface Usage {
  readonly input: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** What the model answers to one request. */
export interface Step {
  /** Asks the client to run a command with whatever shell tool it offered. */
  readonly shell?: string;
  /** Any other tool, by the name that the client offered, with `ns` for a namespace. */
  readonly tool?: string;
  readonly ns?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** JavaScript for Codex's freeform tool `exec`. */
  readonly code?: string;
  /** A final text: the turn is over. */
  readonly text?: string;
  /** Text before a tool's call. */
  readonly say?: string;
  /** Reasoning, shown. */
  readonly think?: string;
  /** Silence before the headers, ms. */
  readonly delayMs?: number;
  /** Silence after the first event, ms. */
  readonly stallMs?: number;
  /** Replaces the counted-up default, in which every response differs, so that a sum can't be right by chance. */
  readonly usage?: Partial<Usage>;
  /** What goes wrong instead of an answer. */
  readonly fault?: Fault;
  /** Only so many requests for this step meet the fault; those after them are answered. Absent: all. */
  readonly faultTimes?: number;
}

/** What a request tells of where its session is. */
export interface Seen {
  readonly api: Api;
  /** Tool results since the last real prompt. */
  readonly turn: number;
  /** Real prompts of a user so far: the first is 1, a message into the session adds one. */
  readonly prompts: number;
  /** The text of the last of them. */
  readonly prompt: string;
  /** The whole request, as it came. */
  readonly body: Json;
  readonly tools: readonly OfferedTool[];
}

/** A tool that the client offered to the model. */
export interface OfferedTool {
  readonly name: string;
  readonly ns?: string;
  readonly type?: string;
  readonly schema: Json;
}

/** A JSON object of which nothing is known. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * What a base path answers. Steps: step N answers a request with N tool results since the last real prompt, so a retry or another
 * session needs no memory here. `prompts`: such steps for the first, second … prompt (the last ones for all after). `review` is for
 * a session whose first prompt is the final review's. A function decides by itself.
 */
export type Script =
  | readonly Step[]
  | {
      readonly steps?: readonly Step[];
      readonly prompts?: readonly (readonly Step[])[];
      readonly review?: readonly Step[];
    }
  | ((seen: Seen) => Step);

/** What a session hears once its script is over. */
const over: Step = { text: 'The script is over.' };

/** The step that answers a request. */
export function stepFor(script: Script, seen: Seen): Step {
  if (typeof script === 'function') return script(seen);
  if (isSteps(script)) return script[seen.turn] ?? over;
  if (script.review && JSON.stringify(seen.body).includes('choose the final candidate'))
    return script.review[seen.turn] ?? over;
  const { prompts = [] } = script;
  const steps = prompts[Math.min(seen.prompts, prompts.length) - 1] ?? script.steps ?? [];
  return steps[seen.turn] ?? over;
}

const isSteps = (script: Exclude<Script, (seen: Seen) => Step>): script is readonly Step[] => Array.isArray(script);

/** A call of a tool as the wire formats need it: arguments, or the text of a freeform tool. */
export interface Call {
  readonly name: string;
  readonly ns?: string;
  readonly args?: Json;
  readonly freeform?: string;
}

const shellTool =
  /^(bash|shell|shell_command|exec_command|local_shell|run_shell_command|run_terminal_cmd|execute_command|run_commands?|terminal|execute)$/i;

/** The call that a step makes with the tools on offer; null for a text; undefined where the tool it needs is not offered. */
export function callFor(step: Step, tools: readonly OfferedTool[]): Call | null | undefined {
  if (step.shell !== undefined) return shellCall(step.shell, tools);
  if (step.code !== undefined) return { name: 'exec', freeform: step.code };
  if (step.tool === undefined) return null;
  return { name: step.tool, args: step.args ?? {}, ...(step.ns === undefined ? {} : { ns: step.ns }) };
}

function shellCall(command: string, tools: readonly OfferedTool[]): Call | undefined {
  const tool = tools.find(({ name }) => shellTool.test(name));
  if (!tool) {
    const freeform = tools.find(({ name, type }) => type === 'custom' && name === 'exec');
    if (!freeform) return undefined;
    const asked = JSON.stringify({ cmd: command });
    const code = `const r = await tools.exec_command(${asked}); text(typeof r === 'string' ? r : JSON.stringify(r));`;
    return { name: freeform.name, freeform: code };
  }
  const properties = (tool.schema['properties'] ?? {}) as Readonly<Record<string, Json>>;
  const key = ['command', 'cmd', 'commands', 'script', 'input'].find((name) => properties[name]) ?? 'command';
  const types = typesOf(properties[key]);
  const words = types.includes('array') && !types.includes('string') && key !== 'commands';
  const args: Record<string, unknown> = {
    [key]: key === 'commands' ? [command] : words ? ['bash', '-lc', command] : command,
  };
  for (const name of (tool.schema['required'] ?? []) as readonly string[])
    if (!(name in args)) args[name] = smallest(properties[name]);
  return { name: tool.name, args, ...(tool.ns === undefined ? {} : { ns: tool.ns }) };
}

const typesOf = (schema: Json | undefined): readonly string[] =>
  [(schema?.['type'] ?? 'string') as string | readonly string[]].flat().map((type) => type.toLowerCase());

/** A small value that a schema accepts. */
export function smallest(schema: Json | undefined): unknown {
  const known = schema?.['enum'];
  if (Array.isArray(known)) return known[0];
  switch (typesOf(schema)[0]) {
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return 60;
    case 'array':
      return [];
    case 'object':
      return Object.fromEntries(
        Object.entries((schema?.['properties'] ?? {}) as Readonly<Record<string, Json>>).map(([name, each]) => [
          name,
          smallest(each),
        ]),
      );
    default:
      return 'scripted';
  }
}
