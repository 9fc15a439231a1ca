import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * What both demonstration agents share: how a session begins, how it talks to `hma`, and how it finds its starting point.
 * A session is one process. It knows the workspace, the archive and its own strategy; nothing is remembered from earlier ones.
 */

/** Refusals after which nothing more can be submitted: the turn is over. Any other refusal is about the candidate. */
const TURN_IS_OVER = new Set([
  'cap_reached',
  'late',
  'budget_reached',
  'in_review',
  'not_your_turn',
  'cancelled',
  'paused',
]);

/** Rows behind a shown score (validation) and behind an agent's own estimate (training, each row by models that never saw its writer). */
const ROWS = { scored: 511, validated: 776 };

/** With so few rows, a difference below this is luck. */
const LUCK = 0.002;

/**
 * @param {string} name the agent's name, for its output and the journal
 * @param {string} strategy one sentence, said at the start
 */
export function openSession(name, strategy) {
  const env = process.env;
  const seed = argument('--seed') ?? env.HMA_DEMO_SEED ?? '1';
  const option = env.HMA_OPTION || '?';
  const say = (text) => console.log(`[${name}] ${text}`);
  say('scripted demonstration agent, no language model, no network');
  say(`role ${env.HMA_ROLE || 'explore'}, option ${option}, seed ${seed}. ${strategy}`);
  if (env.HMA_PROMPT && existsSync(env.HMA_PROMPT)) {
    say(
      `prompt: ${readFileSync(env.HMA_PROMPT, 'utf8').length} characters, received; a script can't read it, its strategy is fixed`,
    );
  }
  return {
    name,
    role: env.HMA_ROLE || 'explore',
    seed,
    option,
    again: env.HMA_ATTEMPT > 1 ? [env.HMA_ATTEMPT] : [],
    say,
    folder: pathToFileURL(`${process.cwd()}/`),
  };
}

/** Runs `hma`; gives its exit code and its output. A missing or broken `hma` is an error that says so. */
function hma(...words) {
  const { status, stdout, stderr, error } = spawnSync('hma', words, {
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (error)
    throw new Error(`can't run "hma ${words[0]}": ${error.message}; this program must be started by an hma session`, {
      cause: error,
    });
  return { status, stdout, stderr };
}

/** @returns {{ candidates: { id: string, author: string, score?: number, reported?: number, note?: string }[], standing?: string }} */
export function readArchive() {
  const { status, stdout, stderr } = hma('archive', '--json');
  if (status !== 0) throw new Error(`"hma archive --json" ended with ${status}: ${stderr.trim()}`);
  const { candidates = [], standing } = JSON.parse(stdout);
  return { candidates, standing };
}

/** One file of an archived candidate, as text. */
export function readCandidateFile(id, path) {
  const { status, stdout, stderr } = hma('archive', 'get', id, path);
  if (status !== 0) throw new Error(`"hma archive get ${id} ${path}" ended with ${status}: ${stderr.trim()}`);
  return stdout;
}

/** Names a candidate as the final one. */
export function nominate(id, reason) {
  const { status, stderr } = hma('nominate', id, '--reason', reason);
  if (status !== 0) throw new Error(`"hma nominate ${id}" ended with ${status}: ${stderr.trim()}`);
}

/** The files of a solution, beside `solution.json` and what the starter has: one module per model kind and feature set. */
export function modulesOf(solution) {
  const models = solution.members.map((member) => `models/${member.model}.mjs`);
  const features = solution.members.flatMap((member) => member.features.map((feature) => `features/${feature}.mjs`));
  return [...new Set([...models, ...features, 'models/softmax.mjs'])];
}

/**
 * What is known of a candidate, lower is better: its shown score and its author's own estimate, each by its rows. One alone may
 * be luck; an agent that trusts only the score climbs onto a lucky candidate and never gets off again.
 */
export function worth({ score, reported }) {
  if (score === undefined || reported === undefined) return score ?? reported ?? Infinity;
  return (score * ROWS.scored + reported * ROWS.validated) / (ROWS.scored + ROWS.validated);
}

/** The best candidate so far by what is known, or undefined. */
export const recordOf = ({ candidates }) => [...candidates].sort((a, b) => worth(a) - worth(b))[0];

/**
 * Finds the point to go on from: the record of the archive, else what lies in the workspace. Modules that the record
 * needs and the workspace lost are fetched from the archive.
 */
export function startingPoint(session) {
  const archive = readArchive();
  const record = recordOf(archive);
  if (!record) {
    session.say('the archive is empty: I begin with the starter solution of the workspace');
    return {
      archive,
      solution: JSON.parse(readFileSync(new URL('solution/solution.json', session.folder), 'utf8')),
      record,
    };
  }
  const solution = JSON.parse(readCandidateFile(record.id, 'solution/solution.json'));
  for (const path of modulesOf(solution)) {
    const file = new URL(`solution/${path}`, session.folder);
    if (!existsSync(file)) writeFileSync(file, readCandidateFile(record.id, `solution/${path}`));
  }
  const peers = archive.candidates.filter((candidate) => candidate.author === 'peer').length;
  session.say(
    `${archive.candidates.length} candidates so far, ${peers} of them by my peer; I go on from ${record.id} (${record.author}, score ${record.score?.toFixed(4) ?? 'not shown'}, reported ${record.reported}): ${describe(solution)}`,
  );
  return { archive, solution, record };
}

/** A solution in one line. */
export function describe(solution) {
  const members = solution.members.map((m) => `${m.model}(${m.features.join('+')})×${m.weight}`);
  return `${members.join(' + ')}, temperature ${solution.temperature}`;
}

/** Copies a module of this agent's own into the workspace, unless it is there already. */
export function bring(session, parts, path) {
  const file = new URL(`solution/${path}`, session.folder);
  if (existsSync(file)) return;
  mkdirSync(new URL('.', file), { recursive: true });
  cpSync(new URL(path, parts), file);
  session.say(`wrote solution/${path}`);
}

/** The workspace's own code. */
export async function openWorkspace(folder, options = {}) {
  const { openPipeline } = await import(new URL('solution/pipeline.mjs', folder));
  return openPipeline({ workspace: folder, ...options });
}

/**
 * Trains, writes the candidate's files and the journal, and submits.
 *
 * @returns {Promise<{ over: boolean, better: boolean, score?: number }>} whether the turn is over, and whether this is
 * a better point to go on from than the record
 */
export async function submit(session, pipeline, { solution, note, record }) {
  const { loss, error, wrong } = await pipeline.estimate(solution);
  const write = (path, text) => writeFileSync(new URL(path, session.folder), text);
  write('solution/solution.json', `${JSON.stringify(solution, null, 2)}\n`);
  write(
    'solution/report.json',
    `${JSON.stringify({ estimate: round(loss), error: round(error), wrong: round(wrong), change: note }, null, 2)}\n`,
  );
  await pipeline.predict(solution);
  appendFileSync(
    new URL('notes.md', session.folder),
    `- ${session.name}, option ${session.option}: ${note}. Own estimate ${loss.toFixed(4)} ± ${error.toFixed(4)}.\n`,
  );
  session.say(
    `${note}; own estimate ${loss.toFixed(4)} ± ${error.toFixed(4)}, ${pipeline.trained()} models trained in this session`,
  );

  const { status, stdout, stderr } = hma(
    'submit',
    '--note',
    note,
    '--score',
    loss.toFixed(4),
    '--wait',
    '60',
    '--json',
  );
  const answers = stdout
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  const answer = answers.findLast((one) => one.outcome) ?? {};
  if (answer.outcome === 'accepted') {
    const reached = worth({ score: answer.score, reported: loss });
    const better = !record || reached < worth(record) + LUCK;
    session.say(
      `${answer.id} accepted, ${answer.score === undefined ? 'score not shown' : `score ${answer.score.toFixed(4)}`}${better ? '' : `: with my estimate worse than ${record.id}, I go back to that`}`,
    );
    return { over: false, better, candidate: { id: answer.id, author: 'you', score: answer.score, reported: loss } };
  }
  session.say(
    `not accepted: ${answer.code ?? answer.outcome ?? `exit code ${status}`} ${answer.reason ?? stderr.trim()}`,
  );
  const known = answer.outcome === 'rejected' && !TURN_IS_OVER.has(answer.code);
  return { over: !known, better: false };
}

const round = (value) => Number(value.toFixed(5));

function argument(name) {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}
