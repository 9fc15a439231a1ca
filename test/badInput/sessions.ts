import { join } from 'node:path';

import { agentRequests } from '../../src/protocol/agent.ts';
import { callTool, toolsOf } from '../../src/session/mcpTools.ts';
import { AgentServer } from '../cli/agentServer.ts';
import type { BadInput, BadInputs } from './badInput.ts';
import { callMcp } from './mcpClient.ts';

const env = { HMA_SOCKET: '/nowhere/agent.sock', HMA_TOKEN: 'secret' };
type Environment = Readonly<Record<string, string>>;

const line = (
  words: readonly string[],
  name: string,
  more: { exit?: number; env?: Environment },
  ...says: readonly string[]
): BadInput => ({
  name,
  given: `hma ${words.map((word) => (/^[\w./:=,-]+$/.test(word) ? word : JSON.stringify(word.length > 60 ? `${word.slice(0, 20)}…` : word))).join(' ')}`,
  says,
  exit: more.exit ?? 64,
  give: (place) => place.session(words, more.env ?? env),
});

/** Asked of a real agent socket that answers so. */
const asked = (
  words: readonly string[],
  name: string,
  reply: unknown,
  more: { readonly given: string; readonly exit: number },
  ...says: readonly string[]
): BadInput => ({
  name,
  given: `hma ${words.join(' ')}${more.given}`,
  says,
  exit: more.exit,
  give: async (place) => {
    const answers = Object.fromEntries(Object.values(agentRequests).map((method) => [method, () => reply]));
    const server = await new AgentServer(answers).listen();
    try {
      return await place.session(words, { HMA_SOCKET: server.path, HMA_TOKEN: 'secret' });
    } finally {
      await server[Symbol.asyncDispose]();
    }
  },
});

const refuses = (code: string, reason: string) => ({ refused: { code, reason } });

/** Commands of agents. */
export const sessions: BadInputs = {
  title: 'Commands inside a session',
  about: 'Agents read these, and mend their call by them.',
  cases: [
    line(['submti'], 'a misspelt command', {}, '"submti"', 'submit'),
    line(['submit', 'solution.py'], 'a file to submit', {}, '"solution.py"', 'usage: hma submit'),
    line(['submit', '--mesage', 'x'], 'an unknown option', {}, '"--mesage"', '--note'),
    line(['submit', '-m', 'x'], 'a short option', {}, '"-m"', '--note'),
    line(['submit', '--note'], 'an option without its value', {}, '--note needs a value', 'usage'),
    line(['submit', '--note', 'a', '--note', 'b'], 'an option twice', {}, '--note is given twice', 'once'),
    line(['submit', '--json=yes'], 'a flag with a value', {}, '--json takes no value'),
    line(['submit', '--score', 'nan'], 'a score that is none', {}, '"nan"', '0.83'),
    line(['submit', '--score', '0x10'], 'a score in another base', {}, '"0x10"', '0.83'),
    line(['submit', '--wait', '-1'], 'a wait below zero', {}, '"-1"', 'from 0'),
    line(
      ['submit', '--note', 'x'.repeat(5000)],
      'a note of 5,000 characters',
      {},
      '5000 characters',
      'a file in the workspace',
    ),
    line(['result'], 'a result of nothing', {}, 'missing', 'usage: hma result ID'),
    line(['archive', 'put', 'x'], 'an archive that is written to', {}, '"put"', 'usage: hma archive'),
    line(['archive', 'get'], 'a candidate that isn’t named', {}, '`initial`', 'usage'),
    line(['archive', 'list', '--out', '/tmp/x'], 'a list that goes nowhere', {}, '--out', 'archive get'),
    line(['nominate', 'e3'], 'a nomination without a reason', {}, '--reason', 'in words'),
    line(
      ['status'],
      'no token',
      { exit: 5, env: { HMA_SOCKET: '/x' } },
      'HMA_TOKEN is not set',
      'environment untouched',
    ),
    line(
      ['status'],
      'no socket',
      { exit: 5, env: { HMA_TOKEN: 'x' } },
      'HMA_SOCKET is not set',
      'environment untouched',
    ),
    line(['status'], 'a controller that is gone', { exit: 5 }, "can't be reached", 'again later'),
    asked(
      ['result', 'e99'],
      'a result of another session',
      refuses('unknown', 'this session has no experiment e99'),
      { given: '', exit: 4 },
      'e99',
      'refused (unknown)',
    ),
    asked(
      ['archive', 'get', 'e9', 'model.py'],
      'a file that no candidate has',
      refuses('unknown', 'there is no candidate e9; hma archive lists them'),
      { given: '', exit: 4 },
      'e9',
    ),
    asked(
      ['archive', 'get', 'e1', '--out', 'best'],
      'a path that leaves its folder',
      { entries: [{ path: '../../.bashrc', kind: 'file', bytes: 1 }] },
      { given: ', and the archive names ../../.bashrc', exit: 4 },
      '../../.bashrc',
      'would leave best',
    ),
    {
      name: 'a place that can’t be written',
      given: 'hma archive get e1 model.py --out eval.py/model.py, and eval.py is a file',
      says: ['eval.py/model.py', 'could not be written', 'another place with --out'],
      exit: 1,
      give: async (place) => {
        const file = { path: 'model.py', kind: 'file', base64: 'eA==' };
        const server = await new AgentServer({ [agentRequests.file]: () => file }).listen();
        try {
          const out = join(place.write('eval.py', ''), 'model.py');
          return await place.session(['archive', 'get', 'e1', 'model.py', '--out', out], {
            HMA_SOCKET: server.path,
            HMA_TOKEN: 'x',
          });
        } finally {
          await server[Symbol.asyncDispose]();
        }
      },
    },
  ],
};

/** Long texts cut, and numbers that JSON has no word for. */
function shortened(_: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value.length > 60 ? `${value.slice(0, 20)}…` : value;
}

const tool = (
  name: string,
  call: string,
  given: Readonly<Record<string, string | number>>,
  ...says: readonly string[]
): BadInput => ({
  name,
  given: `${call} ${JSON.stringify(given, shortened)}`,
  says,
  give: async () => {
    const found = [...toolsOf('explore'), ...toolsOf('review')].find((one) => one.name === call);
    if (!found) throw new Error(`no tool ${call}`);
    const { text, failed } = await callTool(found, given, env);
    return `${failed ? 'isError: ' : ''}${text}`;
  },
});

/** Asked of a real `hma mcp`, as a harness does. */
const called = (
  name: string,
  call: string,
  given: Readonly<Record<string, unknown>>,
  ...says: readonly string[]
): BadInput => ({
  name,
  given: `${call} ${JSON.stringify(given)}`,
  says,
  give: () => callMcp(call, given, { ...env, HMA_ROLE: 'explore' }),
});

/** Calls of `hma mcp`'s tools. */
export const tools: BadInputs = {
  title: 'MCP calls',
  about: 'The tools are the commands, so they say the same; the arguments’ names and types are checked before.',
  cases: [
    tool('a wait below zero', 'submit', { wait: -5 }, 'isError', '"-5"', 'from 0'),
    tool('a wait of a week', 'submit', { wait: 604_800 }, 'isError', '604800', 'to 86400'),
    tool('a score beyond all bounds', 'submit', { score: Infinity }, 'isError', '"Infinity"', '0.83'),
    tool(
      'a note of 5,000 characters',
      'submit',
      { note: 'x'.repeat(5000) },
      'isError',
      '5000 characters',
      'a file in the workspace',
    ),
    tool('a nomination without a reason', 'nominate', { id: 'e3', reason: ' ' }, 'isError', '--reason', 'in words'),
    called('an argument that is none', 'submit', { scroe: 1 }, 'isError', 'scroe', 'note, score, wait'),
    called('a score in words', 'submit', { score: 'high' }, 'isError', 'score', 'must be a number'),
    called('a missing argument', 'result', {}, 'isError', 'id', 'is missing', 'such as e3'),
    called('a tool of the review in an option', 'nominate', { id: 'e3', reason: 'best' }, 'nominate not found'),
  ],
};
