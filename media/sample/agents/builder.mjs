import { bring, describe, openSession, openWorkspace, startingPoint, submit } from './session.mjs';
import { review } from './review.mjs';

/**
 * demo-builder: a scripted demonstration agent, no language model.
 *
 * It never tunes a number. It brings new model kinds and new features, as modules that stay in the workspace for whoever
 * comes next, each with its default parameters, and keeps those that make the whole solution better.
 */
const session = openSession('demo-builder', 'I bring new features and model kinds; I tune nothing.');

/** Ideas that are trained for one experiment; the best of them is submitted. */
const AT_ONCE = 2;

/** Most members of a solution; beyond it the one that is missed least has to go. */
const MOST_MEMBERS = 5;

/** An estimated gain below this is not worth an experiment. */
const WORTHWHILE = 0.0003;

/** Experiments' worth of ideas in a row without a gain after which this agent ends its turn. */
const PATIENCE = 3;

async function explore() {
  let { archive, solution, record } = startingPoint(session);
  const pipeline = await openWorkspace(session.folder);
  const { randomFrom } = await import(new URL('lib/random.mjs', session.folder));
  const random = randomFrom(session.seed, session.name, session.option, archive.candidates.length, ...session.again);
  if (!record) solution = { ...solution, seed: Number(session.seed) };
  const tried = new Set(archive.candidates.map((candidate) => candidate.note));
  const ideas = random.shuffle(allIdeas()).filter((idea) => !tried.has(idea.note));

  let misses = 0;
  while (misses < PATIENCE && ideas.length > 0) {
    const before = (await pipeline.estimate(solution)).loss;
    const options = [];
    for (const idea of ideas.splice(0, AT_ONCE)) {
      const next = idea.apply(solution);
      if (!next) continue;
      for (const part of idea.parts) bring(session, new URL('parts/', import.meta.url), part);
      const kept = await pruned(pipeline, next);
      // what had to go at once was no gain
      if (kept.solution.members.includes(next.members.at(-1)) || next.members.length === solution.members.length)
        options.push({ note: idea.note, ...kept });
    }
    const best = options.sort((a, b) => a.loss - b.loss)[0];
    if (!best || before - best.loss < WORTHWHILE) {
      misses += 1;
      session.say(`no gain from ${options.map((option) => option.note).join(' or ') || 'ideas that do not fit'}`);
      continue;
    }
    misses = 0;
    const result = await submit(session, pipeline, { solution: best.solution, note: best.note, record });
    if (result.over) return;
    if (result.better) ({ solution, record } = { solution: best.solution, record: result.candidate });
  }
  session.say(`out of ideas around ${describe(solution)}: I end my turn`);
}

/** Everything this agent knows how to build: members of a new kind, and features for members that are there. */
function allIdeas() {
  const starter = ['models/softmax.mjs', 'features/pixels.mjs'];
  const views = [
    ['pixels'],
    ['gradients'],
    ['strokes'],
    ['pixels', 'gradients'],
    ['gradients', 'profiles'],
    ['pixels', 'strokes'],
  ];
  const added = ['knn', 'mlp', 'landmarks', 'softmax'].flatMap((model) =>
    views.map((features) => ({
      note: `add ${model} on ${features.join('+')}`,
      parts: [`models/${model}.mjs`, ...features.map((name) => `features/${name}.mjs`)].filter(
        (part) => !starter.includes(part),
      ),
      apply: (solution) => withMember(solution, { model, features }),
    })),
  );
  const widened = ['gradients', 'profiles', 'strokes'].flatMap((feature) =>
    ['softmax', 'knn', 'mlp', 'landmarks'].map((model) => ({
      note: `give ${model} the ${feature} too`,
      parts: [`features/${feature}.mjs`],
      apply: (solution) => withFeature(solution, model, feature),
    })),
  );
  return [...added, ...widened];
}

/** One more member, heard like the average one. Undefined if its like is there. */
function withMember(solution, { model, features }) {
  const alike = (one) => one.model === model && one.features.join() === features.join();
  if (solution.members.some(alike)) return undefined;
  const weight = solution.members.reduce((sum, member) => sum + member.weight, 0) / solution.members.length;
  const member = { model, features, shifts: 0, weight: Number(weight.toFixed(3)), params: {} };
  return { ...solution, members: [...solution.members, member] };
}

/** A feature more for the first member of a kind that lacks it. Undefined if there is none. */
function withFeature(solution, model, feature) {
  const at = solution.members.findIndex((one) => one.model === model && !one.features.includes(feature));
  if (at === -1) return undefined;
  const members = solution.members.map((one, index) =>
    index === at ? { ...one, features: [...one.features, feature] } : one,
  );
  return { ...solution, members };
}

/** Drops the member that is missed least while there are too many. */
async function pruned(pipeline, solution) {
  const { loss } = await pipeline.estimate(solution);
  if (solution.members.length <= MOST_MEMBERS) return { solution, loss };
  const fewer = solution.members.map((_, out) => ({
    ...solution,
    members: solution.members.filter((_, at) => at !== out),
  }));
  const losses = await Promise.all(fewer.map(async (one) => (await pipeline.estimate(one)).loss));
  return pruned(pipeline, fewer[losses.indexOf(Math.min(...losses))]);
}

if (session.role === 'review') await review(session);
else await explore();
