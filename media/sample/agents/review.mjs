import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { modulesOf, nominate, openWorkspace, readArchive, readCandidateFile, recordOf, worth } from './session.mjs';

/** Candidates that are trained again: the standing one, the record, and those whose authors' own validation was best. */
const RECHECKED = 4;

/**
 * The final review, the same for both agents: a shown score may be luck on one split, and so may an author's own estimate.
 * So the promising candidates are trained once more from their archived files with another random seed, on writers they
 * have not seen, and judged on all rows that are known of them together.
 */
export async function review(session) {
  const archive = readArchive();
  const record = recordOf(archive);
  if (!record) return session.say('there is no candidate to nominate');
  nominate(
    record.id,
    `best by its score and its author's estimate together (${worth(record).toFixed(4)}); not yet checked again`,
  );
  const byEstimate = [...archive.candidates].sort((a, b) => (a.reported ?? Infinity) - (b.reported ?? Infinity));
  const standing =
    archive.candidates.find((candidate) => candidate.id === archive.standing) ?? archive.candidates.at(-1);
  const chosen = [...new Set([standing, record, ...byEstimate])].slice(0, RECHECKED);

  const checked = [];
  for (const candidate of chosen) {
    const again = await trainedAgain(session, candidate.id);
    const pooled = worth({ score: candidate.score, reported: again.loss });
    checked.push({ ...candidate, again, pooled });
    session.say(
      `${candidate.id} (${candidate.author}): score ${candidate.score?.toFixed(4) ?? 'not shown'}, reported ${candidate.reported ?? 'nothing'}, trained again ${again.loss.toFixed(4)} ± ${again.error.toFixed(4)}, together ${pooled.toFixed(4)}`,
    );
  }
  const best = [...checked].sort((a, b) => a.pooled - b.pooled)[0];
  const reason = reasonFor(best, checked[0], checked.length);
  nominate(best.id, reason);
  session.say(`nominated ${best.id}: ${reason}`);
}

/** Trains a candidate from its archived files, in a folder of its own below the scratch folder. */
async function trainedAgain(session, id) {
  const folder = new URL(`${id}/`, session.folder);
  const source = process.env.HMA_WORKSPACE;
  mkdirSync(folder, { recursive: true });
  for (const part of ['data', 'lib'])
    cpSync(new URL(`${part}/`, pathToFileURL(`${source}/`)), new URL(`${part}/`, folder), { recursive: true });
  const take = (path) => {
    const file = new URL(`solution/${path}`, folder);
    mkdirSync(new URL('.', file), { recursive: true });
    const text = readCandidateFile(id, `solution/${path}`);
    writeFileSync(file, text);
    return text;
  };
  const solution = JSON.parse(take('solution.json'));
  for (const path of ['pipeline.mjs', ...modulesOf(solution)]) take(path);
  const pipeline = await openWorkspace(folder, { cache: new URL('cache/', session.folder) });
  return pipeline.estimate({ ...solution, seed: solution.seed + 1000 });
}

/** Why, with the paired difference to the standing candidate on the same rows. */
function reasonFor(best, standing, count) {
  const facts = `log loss ${best.pooled.toFixed(4)} over its score and a training with another seed, lowest of ${count} checked`;
  if (best.id === standing.id) return `the standing candidate holds: ${facts}`;
  const gaps = best.again.rows.map((loss, row) => standing.again.rows[row] - loss);
  const gap = gaps.reduce((sum, value) => sum + value, 0) / gaps.length;
  const error = Math.sqrt(gaps.reduce((sum, value) => sum + (value - gap) ** 2, 0)) / gaps.length;
  return `${facts}; against the standing ${standing.id} (${standing.pooled.toFixed(4)}) ${gap.toFixed(4)} ± ${error.toFixed(4)} better on the same rows`;
}
