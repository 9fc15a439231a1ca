import type { IncomingHttpHeaders } from 'node:http';

import type { Api, Json, OfferedTool, Seen } from './script.ts';

/** Where a request goes: which protocol, which script, which model. */
export interface Route {
  readonly api: Api | null;
  /** First part of the path. */
  readonly script: string;
  readonly model: string;
  readonly stream: boolean;
}

/** Reads the route from a request's path and body. */
export function routeOf(method: string, path: string, body: Json): Route {
  const first = path.split('/')[1] ?? '';
  const script = /^v1(beta)?$/.test(first) ? 'default' : first;
  const google = /\/models\/([^/:]+):(\w+)$/.exec(path);
  const model = typeof body['model'] === 'string' ? body['model'] : (google?.[1] ?? '');
  const stream = google ? google[2] === 'streamGenerateContent' : body['stream'] === true;
  return { api: method === 'POST' ? apiOf(path, google?.[2]) : null, script, model, stream };
}

function apiOf(path: string, verb: string | undefined): Api | null {
  if (path.endsWith('/messages')) return 'anthropic';
  if (path.endsWith('/responses')) return 'responses';
  if (path.endsWith('/chat/completions')) return 'chat';
  return verb !== undefined && /generateContent$/i.test(verb) ? 'gemini' : null;
}

/** The key that arrived, whatever header its provider wants it in; null where there is none. */
export function keyOf(headers: IncomingHttpHeaders, query: URLSearchParams): string | null {
  const bearer = headers.authorization?.replace(/^Bearer /i, '');
  const found = [headers['x-api-key'], headers['x-goog-api-key'], bearer, query.get('key')].find(Boolean);
  return typeof found === 'string' ? found : null;
}

/** What a request tells of where its session is. */
export function seenIn(api: Api, body: Json): Seen {
  const { turn, prompts, prompt } = readHistory(itemsOf(api, body).flatMap((item) => marksOf(api, item)));
  return { api, turn, prompts, prompt, body, tools: toolsOf(api, body) };
}

/** The tools that a client offered. */
function toolsOf(api: Api, body: Json): readonly OfferedTool[] {
  const offered = list(body['tools']);
  if (api === 'gemini')
    return offered
      .flatMap((each) => list(each['functionDeclarations']))
      .map((each) => ({
        name: word(each['name']),
        schema: object(each['parametersJsonSchema'] ?? each['parameters']),
      }));
  // Newer Codex models get their tools inside the input, as an item "additional_tools".
  const added = list(body['input']).filter((item) => item['type'] === 'additional_tools');
  return flatten([...offered, ...added.flatMap((item) => list(item['tools']))]);
}

const flatten = (tools: readonly Json[], ns?: string): readonly OfferedTool[] =>
  tools.flatMap((tool) => {
    if (tool['type'] === 'namespace') return flatten(list(tool['tools']), word(tool['name']));
    const inner = object(tool['function']);
    const schema = object(inner['parameters'] ?? tool['input_schema'] ?? tool['parameters']);
    const type = word(tool['type']);
    return [{ name: word(inner['name'] ?? tool['name'] ?? type), type, schema, ...(ns === undefined ? {} : { ns }) }];
  });

/** One thing in a history that moves a session on: a tool's result, what the model said, or a prompt. */
type Mark = 'result' | 'answer' | { readonly prompt: string };

function readHistory(marks: readonly Mark[]): Pick<Seen, 'turn' | 'prompts' | 'prompt'> {
  let [turn, prompts, prompt] = [0, 0, ''];
  let last: Mark = 'answer';
  for (const mark of marks) {
    if (mark === 'result') turn += 1;
    else if (mark !== 'answer') {
      // Several in a row are one prompt: clients put instructions of their own before it.
      const more = typeof last === 'object';
      prompts += more ? 0 : 1;
      prompt = more ? `${prompt}\n${mark.prompt}` : mark.prompt;
      turn = 0;
    }
    last = mark;
  }
  return { turn, prompts, prompt };
}

const itemsOf = (api: Api, body: Json): readonly Json[] =>
  list(api === 'gemini' ? body['contents'] : api === 'responses' ? body['input'] : body['messages']);

function marksOf(api: Api, item: Json): readonly Mark[] {
  if (item['role'] === 'assistant' || item['role'] === 'model') return ['answer'];
  switch (api) {
    case 'anthropic':
      return results(list(item['content']).filter((part) => part['type'] === 'tool_result')).concat(
        promptsIn(item['content']),
      );
    case 'chat':
      if (item['role'] === 'tool') return ['result'];
      return item['role'] === 'user' ? promptsIn(item['content']) : [];
    case 'gemini':
      return results(list(item['parts']).filter((part) => part['functionResponse'] !== undefined)).concat(
        promptsIn(item['parts']),
      );
    case 'responses':
      if (word(item['type']).endsWith('_output')) return ['result'];
      if (/_call$|^reasoning$/.test(word(item['type']))) return ['answer'];
      return item['role'] === 'user' ? promptsIn(item['content']) : [];
  }
}

const results = (found: readonly Json[]): Mark[] => found.map(() => 'result');

/** What clients send in a user's name that no user said. */
const noise =
  /^\s*(<(system-reminder|environment_context|user_instructions|permissions|hook|session_context|INSTRUCTIONS)|# AGENTS\.md instructions)/;

function promptsIn(content: unknown): readonly Mark[] {
  const texts = typeof content === 'string' ? [content] : list(content).map((part) => word(part['text']));
  const said = texts.filter((text) => text !== '' && !noise.test(text));
  return said.length > 0 ? [{ prompt: said.join('\n') }] : [];
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);
const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const word = (value: unknown): string => (typeof value === 'string' ? value : '');
