import { describe, openSession, openWorkspace, startingPoint, submit } from './session.mjs';
import { review } from './review.mjs';

/**
 * demo-tuner: a scripted demonstration agent, no language model.
 *
 * It never adds a model kind or a feature. It takes the members it finds in the solution, reads from each model's own module
 * what can be tuned (`space`), and searches: parameters, shifted training images, weights of the members, temperature.
 */
const session = openSession('demo-tuner', 'I tune what is in the workspace; I add nothing new.');

/** Variants of one member that are trained for one experiment. */
const TRIALS = 3;

/** Searches without a gain, beyond one for each member, after which this agent ends its turn. */
const PATIENCE = 2;

/** An estimated gain below this is not worth an experiment. */
const WORTHWHILE = 0.0005;

async function explore() {
  let { archive, solution, record } = startingPoint(session);
  const pipeline = await openWorkspace(session.folder);
  const { randomFrom } = await import(new URL('lib/random.mjs', session.folder));
  // the option's number too: after a turn without a gain the next one must not try the same steps again
  const random = randomFrom(session.seed, session.name, session.option, archive.candidates.length, ...session.again);
  if (!record) solution = { ...solution, seed: Number(session.seed) };

  let misses = 0;
  for (let experiment = 0; misses < solution.members.length + PATIENCE; experiment += 1) {
    const before = (await pipeline.estimate(solution)).loss;
    const mixed = await calibrated(pipeline, solution);
    // the cheapest gain first: peers who add members leave them with equal weights
    const alone = experiment === 0 && solution.members.length > 1 && before - mixed.loss > 4 * WORTHWHILE;
    const turn = random.below(solution.members.length);
    const found = alone
      ? { ...mixed, note: `calibrate: ${mix(mixed.solution)}` }
      : await tuned(pipeline, { start: mixed, member: (turn + experiment) % solution.members.length, random });
    if (before - found.loss < WORTHWHILE) {
      misses += 1;
      session.say(
        `no gain from ${found.note ?? 'that'} (${before.toFixed(4)} → ${found.loss.toFixed(4)}), I look elsewhere`,
      );
      continue;
    }
    misses = 0;
    const result = await submit(session, pipeline, { solution: found.solution, note: found.note, record });
    if (result.over) return;
    if (result.better) ({ solution, record } = { solution: found.solution, record: result.candidate });
  }
  session.say(`nothing left to gain around ${describe(solution)}: I end my turn`);
}

/** Random steps of one member's parameters, each kept if the whole solution's estimate improves. */
async function tuned(pipeline, { start, member, random }) {
  let best = start;
  for (let trial = 0; trial < TRIALS; trial += 1) {
    const members = best.solution.members.map((one) => ({ ...one, params: { ...one.params } }));
    await step(pipeline, members[member], random);
    const tried = await calibrated(pipeline, { ...best.solution, members });
    if (tried.loss < best.loss) best = tried;
  }
  const { model, features } = start.solution.members[member];
  return {
    ...best,
    note: `tune ${model} on ${features.join('+')}: ${await difference(pipeline, start, best, member)}`,
  };
}

/** Moves one or two parameters inside the space that the model's module declares, or changes the shifted copies. */
async function step(pipeline, member, random) {
  const { model, params } = await pipeline.partsOf(member);
  const names = random.shuffle(Object.keys(model.space)).slice(0, 1 + random.below(2));
  if (random.next() < 0.25) member.shifts = random.below(3);
  for (const name of names) {
    const { min, max, log = false, integer = false } = model.space[name];
    const [from, to, now] = log ? [min, max, params[name]].map(Math.log) : [min, max, params[name]];
    const moved = Math.min(to, Math.max(from, now + 0.25 * (to - from) * random.normal()));
    const value = log ? Math.exp(moved) : moved;
    member.params[name] = integer ? Math.round(value) : Number(value.toPrecision(3));
  }
}

/** Weights and temperature by coordinate search on the out-of-fold opinions: no training at all. */
async function calibrated(pipeline, solution) {
  const opinions = await pipeline.opinions(solution);
  let weights = solution.members.map((member) => member.weight);
  let { temperature } = solution;
  let loss = pipeline.lossOf(opinions, weights, temperature);
  for (const factor of [2, 0.5, 1.3, 0.75, 1.1, 0.9]) {
    for (let at = 0; at <= weights.length; at += 1) {
      const others = weights.map((weight, index) =>
        index === at && weights.length > 1 ? tidy(weight * factor) : weight,
      );
      const warmer = at === weights.length ? tidy(temperature * factor) : temperature;
      const tried = pipeline.lossOf(opinions, others, warmer);
      if (tried < loss) ({ loss, weights, temperature } = { loss: tried, weights: others, temperature: warmer });
    }
  }
  const members = solution.members.map((member, at) => ({ ...member, weight: weights[at] }));
  return { loss, solution: { ...solution, temperature, members } };
}

const tidy = (value) => Math.max(0.01, Number(value.toFixed(3)));

const mix = (solution) =>
  `weights ${solution.members.map((member) => member.weight).join(' : ')}, temperature ${solution.temperature}`;

/** What changed, in words: `rate 0.05 → 0.021, shifts 0 → 1`. */
async function difference(pipeline, before, after, member) {
  const facts = async ({ solution }) => ({
    ...(await pipeline.partsOf(solution.members[member])).params,
    shifts: solution.members[member].shifts,
  });
  const [old, now] = [await facts(before), await facts(after)];
  const changed = Object.keys(now)
    .filter((name) => now[name] !== old[name])
    .map((name) => `${name} ${old[name]} → ${now[name]}`);
  return [...changed, mix(after.solution)].join(', ');
}

if (session.role === 'review') await review(session);
else await explore();
