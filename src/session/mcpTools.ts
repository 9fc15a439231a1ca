import { sessionExit } from '../protocol/agent.ts';
import { runSession } from './main.ts';

/** The value of one argument of a tool, as an MCP client sends it. */
export type ToolValue = string | number | undefined;

/** One argument of a tool. */
export interface ToolArgument {
  readonly type: 'string' | 'number';
  readonly optional: boolean;
  readonly says: string;
}

/** A session's command as a tool: the same command line, so the same gate, token and codes. */
export interface SessionTool {
  readonly name: string;
  readonly says: string;
  /** Whether calling it changes anything. */
  readonly readOnly: boolean;
  readonly inputs: Readonly<Record<string, ToolArgument>>;
  /** The words after `hma` that the call stands for. */
  readonly words: (given: Readonly<Record<string, ToolValue>>) => readonly string[];
}

const option = (name: string, value: ToolValue): string[] => (value === undefined ? [] : [`--${name}=${value}`]);

/** How long a tool waits for a verdict unless it is told otherwise, seconds: a tool call may take longer than a shell command. */
const defaultWaitSeconds = 45;

const wait: ToolArgument = {
  type: 'number',
  optional: true,
  says: `Longest wait for the verdict in seconds. Default ${defaultWaitSeconds}.`,
};

const exploration: readonly SessionTool[] = [
  {
    name: 'submit',
    says: 'Sends the candidate files of the workspace as they are now and waits for the verdict. Gives the experiment’s id and its receipt; when it is still pending, ask `result` later.',
    readOnly: false,
    inputs: {
      note: { type: 'string', optional: true, says: 'What you tried, for whoever works here next.' },
      score: { type: 'number', optional: true, says: 'What your own validation gave.' },
      wait,
    },
    words: (given) => [
      'submit',
      ...option('note', given['note']),
      ...option('score', given['score']),
      ...option('wait', given['wait'] ?? defaultWaitSeconds),
    ],
  },
  {
    name: 'result',
    says: 'The receipt of one of your experiments.',
    readOnly: true,
    inputs: { id: { type: 'string', optional: false, says: 'The experiment’s id, such as e3.' }, wait },
    words: (given) => ['result', ...option('wait', given['wait'] ?? 0), '--', `${given['id']}`],
  },
  {
    name: 'validate',
    says: 'Checks the form of the candidate files, where the task has such a check. Counts for nothing.',
    readOnly: true,
    inputs: {},
    words: () => ['validate'],
  },
];

const always: readonly SessionTool[] = [
  {
    name: 'status',
    says: 'Time left, last safe time to submit, what is being judged.',
    readOnly: true,
    inputs: {},
    words: () => ['status'],
  },
  {
    name: 'archive',
    says: 'All candidates so far; with an id the files of one, with a path also one file’s text. The id may be `initial`.',
    readOnly: true,
    inputs: {
      id: { type: 'string', optional: true, says: 'A candidate’s id, such as e3.' },
      path: { type: 'string', optional: true, says: 'One file of it.' },
    },
    words: ({ id, path }) =>
      id === undefined
        ? ['archive', 'list']
        : ['archive', '--', 'get', `${id}`, ...(path === undefined ? [] : [`${path}`])],
  },
];

const review: readonly SessionTool[] = [
  {
    name: 'nominate',
    says: 'The final review’s choice, with the reason in words. The last valid one stands.',
    readOnly: false,
    inputs: {
      id: { type: 'string', optional: false, says: 'The candidate’s id, such as e3.' },
      reason: { type: 'string', optional: false, says: 'Why this candidate.' },
    },
    words: (given) => ['nominate', ...option('reason', given['reason']), '--', `${given['id']}`],
  },
];

/** The tools of a session: an option submits, the final review nominates, both look. */
export const toolsOf = (role: string | undefined): readonly SessionTool[] =>
  role === 'review' ? [...always, ...review] : [...exploration, ...always];

/** What a tool's call came to. */
export interface ToolAnswer {
  readonly text: string;
  /** It could not be done: wrong usage, no controller, refused. A rejected experiment is an answer, not an error. */
  readonly failed: boolean;
}

/** Calls a tool by running its command. */
export async function callTool(
  tool: SessionTool,
  given: Readonly<Record<string, ToolValue>>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ToolAnswer> {
  const said: string[] = [];
  const keep = (text: string | Uint8Array): void =>
    void said.push(typeof text === 'string' ? text : new TextDecoder().decode(text));
  const exit = await runSession({
    words: tool.words(given),
    env,
    output: {
      print: async (text) => {
        keep(text);
        return true;
      },
      remark: async (text) => keep(text),
    },
  });
  const failed = exit !== sessionExit.accepted && exit !== sessionExit.rejected && exit !== sessionExit.pending;
  return { text: said.join('').trimEnd(), failed };
}
