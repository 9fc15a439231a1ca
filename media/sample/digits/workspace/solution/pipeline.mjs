import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { blend, errorRate, logLoss, lossPerRow, mean } from '../lib/loss.mjs';
import { randomFrom } from '../lib/random.mjs';
import { readTask, writePredictions } from '../lib/data.mjs';

/**
 * From `solution.json` to predictions. A solution is a list of members (model kind, features, shifted copies of the training
 * images, parameters, weight) and one temperature; their weighted opinion is the answer.
 *
 * The estimate is honest about what is asked: each of the six writers is predicted by models that never saw that hand.
 * What a member gives is kept in `cache/` under the hash of all it depends on, so nobody trains the same thing twice.
 *
 * @typedef {{ model: string, features: string[], shifts: number, weight: number, params: Record<string, number> }} Member
 * @typedef {{ seed: number, temperature: number, members: Member[] }} Solution
 */

const here = new URL('.', import.meta.url);

/** Opens a workspace (folder URL, ending in `/`) whose `solution/` this file lies in. */
export function openPipeline({
  workspace = new URL('../', here),
  cache = new URL('cache/', workspace),
  folds = 6,
} = {}) {
  const task = readTask(workspace);
  let trained = 0;

  async function partsOf(member) {
    const model = await import(new URL(`models/${member.model}.mjs`, here));
    const features = await Promise.all(member.features.map((name) => import(new URL(`features/${name}.mjs`, here))));
    return { model, features, params: { ...model.defaults, ...member.params } };
  }

  /** Trains a member on some rows of the training table; gives a function from images to chances. */
  async function fitMember(member, rows, seed) {
    const { model, features, params } = await partsOf(member);
    const random = randomFrom(seed, member.model, ...member.features);
    const { pixels, labels } = withShifts(task.train, rows, member.shifts, random);
    const view = scaledView(features, pixels);
    const chances = model.fit(view.of(pixels), labels, { width: view.width, params, random });
    trained += 1;
    return (images) => chances(view.of(images));
  }

  /** Chances for all training rows, each from a model that never saw its writer. */
  async function outOfFold(member, seed) {
    const writers = [...new Set(task.train.forms)].sort((a, b) => a - b);
    const all = task.train.labels.length;
    const out = new Float32Array(all * 10);
    for (let fold = 0; fold < folds; fold += 1) {
      const held = new Set(writers.filter((_, at) => at % folds === fold));
      const rows = Array.from({ length: all }, (_, row) => row);
      const predictHeld = await fitMember(
        member,
        rows.filter((row) => !held.has(task.train.forms[row])),
        seed,
      );
      const inside = rows.filter((row) => held.has(task.train.forms[row]));
      const chances = predictHeld(pick(task.train.pixels, inside, 64));
      inside.forEach((row, at) => out.set(chances.subarray(at * 10, at * 10 + 10), row * 10));
    }
    return out;
  }

  /** Chances for the validation rows, then the test rows, from a model trained on everything. */
  async function final(member, seed) {
    const predictAll = await fitMember(
      member,
      Array.from(task.train.labels, (_, row) => row),
      seed,
    );
    return Float32Array.from([...predictAll(task.validation.pixels), ...predictAll(task.test.pixels)]);
  }

  /** Takes it from the cache, or makes it and leaves it there. */
  async function kept(what, member, seed, make) {
    const sources = [`models/${member.model}`, ...member.features.map((name) => `features/${name}`), 'pipeline'];
    const hash = createHash('sha256').update(
      JSON.stringify([what, folds, seed, member.shifts, (await partsOf(member)).params]),
    );
    for (const source of sources) hash.update(source).update(readFileSync(new URL(`${source}.mjs`, here)));
    const file = new URL(`${member.model}-${what}-${hash.digest('hex').slice(0, 20)}.f32`, cache);
    try {
      const bytes = readFileSync(file);
      return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    } catch (problem) {
      if (problem.code !== 'ENOENT') throw problem;
    }
    const made = await make(member, seed);
    mkdirSync(cache, { recursive: true });
    const partial = new URL(`${file.href}.${process.pid}`);
    writeFileSync(partial, made);
    renameSync(partial, file);
    return made;
  }

  /** Each member's out-of-fold opinion. @param {Solution} solution */
  const opinions = (solution) =>
    Promise.all(solution.members.map((member) => kept('folds', member, solution.seed, outOfFold)));

  /** What a solution is likely to score, with the standard error of that. */
  async function estimate(solution) {
    const chances = blend(
      await opinions(solution),
      solution.members.map((member) => member.weight),
      solution.temperature,
    );
    const rows = lossPerRow(chances, task.train.labels);
    const loss = mean(rows);
    const variance = mean(rows.map((value) => (value - loss) ** 2));
    return { loss, error: Math.sqrt(variance / rows.length), wrong: errorRate(chances, task.train.labels), rows };
  }

  /** Trains all members on everything and writes `predictions.csv`. */
  async function predict(solution, file = new URL('predictions.csv', workspace)) {
    const outs = await Promise.all(solution.members.map((member) => kept('final', member, solution.seed, final)));
    const chances = blend(
      outs,
      solution.members.map((member) => member.weight),
      solution.temperature,
    );
    const cut = task.validation.ids.length * 10;
    writePredictions(file, [
      { ids: task.validation.ids, chances: chances.subarray(0, cut) },
      { ids: task.test.ids, chances: chances.subarray(cut) },
    ]);
  }

  return {
    opinions,
    estimate,
    predict,
    partsOf,
    /** Log loss of blended out-of-fold opinions: cheap, for whoever searches weights. */
    lossOf: (given, weights, temperature) => logLoss(blend(given, weights, temperature), task.train.labels),
    /** How many models were trained so far, cached ones not counted. */
    trained: () => trained,
  };
}

function pick(values, rows, width) {
  const out = new Float32Array(rows.length * width);
  rows.forEach((row, at) => out.set(values.subarray(row * width, row * width + width), at * width));
  return out;
}

/** The chosen rows, and `shifts` more copies of each, moved by one pixel in a random direction. */
function withShifts(images, rows, shifts, random) {
  const copies = 1 + shifts;
  const pixels = new Float32Array(rows.length * copies * 64);
  const labels = new Uint8Array(rows.length * copies);
  rows.forEach((row, at) => {
    for (let copy = 0; copy < copies; copy += 1) {
      const to = at * copies + copy;
      const [dx, dy] =
        copy === 0
          ? [0, 0]
          : [
              [1, 0],
              [-1, 0],
              [0, 1],
              [0, -1],
            ][random.below(4)];
      labels[to] = images.labels[row];
      for (let y = 0; y < 8; y += 1) {
        for (let x = 0; x < 8; x += 1) {
          const inside = x - dx >= 0 && x - dx < 8 && y - dy >= 0 && y - dy < 8;
          pixels[to * 64 + y * 8 + x] = inside ? images.pixels[row * 64 + (y - dy) * 8 + x - dx] : 0;
        }
      }
    }
  });
  return { pixels, labels };
}

/** Features side by side; each block centred by column and brought to unit variance as a whole, as the training rows say. */
function scaledView(features, training) {
  const blocks = features.map(({ extract }) => {
    const { values, width } = extract(training);
    const centre = new Float64Array(width);
    values.forEach((value, at) => (centre[at % width] += (value * width) / values.length));
    let square = 0;
    values.forEach((value, at) => (square += (value - centre[at % width]) ** 2));
    return { extract, width, centre, scale: 1 / Math.sqrt(square / values.length + 1e-9) };
  });
  const width = blocks.reduce((sum, block) => sum + block.width, 0);
  function of(images) {
    const out = new Float32Array((images.length / 64) * width);
    let offset = 0;
    for (const block of blocks) {
      block.extract(images).values.forEach((value, at) => {
        const column = at % block.width;
        out[((at - column) / block.width) * width + offset + column] = (value - block.centre[column]) * block.scale;
      });
      offset += block.width;
    }
    return out;
  }
  return { width, of };
}
