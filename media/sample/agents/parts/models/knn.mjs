/** Nearest neighbours: the training images most like this one vote, near ones more. */

export const defaults = { neighbours: 10, reach: 0.25, trust: 0.9 };

export const space = {
  neighbours: { min: 3, max: 60, integer: true, log: true },
  /** How fast a vote fades: mean squared difference at which it has fallen to 1/e. */
  reach: { min: 0.02, max: 0.8, log: true },
  /** How much is left to the vote; the rest is spread over all ten digits. */
  trust: { min: 0.8, max: 0.999 },
};

/** @returns {(rows: Float32Array) => Float32Array} rows (m × width) to chances (m × 10) */
export function fit(x, y, { width, params }) {
  return (rows) => {
    const count = rows.length / width;
    const out = new Float32Array(count * 10);
    for (let row = 0; row < count; row += 1) {
      const near = nearest(rows.subarray(row * width, row * width + width), x, params.neighbours);
      let sum = 0;
      const closest = near[0].distance;
      for (const { distance, index } of near) {
        const vote = Math.exp(-(distance - closest) / (width * params.reach));
        out[row * 10 + y[index]] += vote;
        sum += vote;
      }
      for (let k = row * 10; k < row * 10 + 10; k += 1)
        out[k] = (params.trust * out[k]) / sum + (1 - params.trust) / 10;
    }
    return out;
  };
}

/** The `count` rows of `x` with the smallest squared distance, nearest first. */
function nearest(image, x, count) {
  const best = [];
  for (let index = 0; index < x.length / image.length; index += 1) {
    const limit = best.length < count ? Infinity : best[count - 1].distance;
    const from = index * image.length;
    let distance = 0;
    for (let at = 0; at < image.length && distance < limit; at += 1) distance += (image[at] - x[from + at]) ** 2;
    if (distance >= limit) continue;
    let place = best.length;
    while (place > 0 && best[place - 1].distance > distance) place -= 1;
    best.splice(place, 0, { distance, index });
    if (best.length > count) best.pop();
  }
  return best;
}
