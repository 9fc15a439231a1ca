import { softmaxInPlace } from '../../lib/loss.mjs';

/** Softmax (multinomial logistic) regression, trained by stochastic gradient descent with momentum. */

export const defaults = { rate: 0.02, decay: 0.0001, steps: 400 };

/** What can be tuned, and from where to where. */
export const space = {
  rate: { min: 0.003, max: 0.3, log: true },
  decay: { min: 0.00001, max: 0.1, log: true },
  steps: { min: 200, max: 1200, integer: true, log: true },
};

const BATCH = 16;

/**
 * @param {Float32Array} x n × width
 * @param {Uint8Array} y the digits
 * @returns {(rows: Float32Array) => Float32Array} what gives the chances (m × 10) of rows (m × width)
 */
export function fit(x, y, { width, params, random }) {
  const weights = new Float32Array(width * 10);
  const bias = new Float32Array(10);
  const speed = new Float32Array(width * 10);

  function chances(rows) {
    const out = new Float32Array((rows.length / width) * 10);
    for (let from = 0, to = 0; from < rows.length; from += width, to += 10) {
      out.set(bias, to);
      for (let at = 0; at < width; at += 1) {
        const value = rows[from + at];
        for (let k = 0; k < 10; k += 1) out[to + k] += value * weights[at * 10 + k];
      }
      softmaxInPlace(out, to);
    }
    return out;
  }

  const batch = new Float32Array(BATCH * width);
  for (let step = 0; step < params.steps; step += 1) {
    const picked = Array.from({ length: BATCH }, () => random.below(y.length));
    picked.forEach((row, at) => batch.set(x.subarray(row * width, row * width + width), at * width));
    const slope = chances(batch);
    picked.forEach((row, at) => (slope[at * 10 + y[row]] -= 1));
    const rate = params.rate * (1 - step / params.steps);
    for (let at = 0; at < speed.length; at += 1) speed[at] = 0.9 * speed[at] - rate * params.decay * weights[at];
    for (let item = 0; item < BATCH; item += 1) {
      for (let at = 0; at < width; at += 1) {
        const push = (rate / BATCH) * batch[item * width + at];
        for (let k = 0; k < 10; k += 1) speed[at * 10 + k] -= push * slope[item * 10 + k];
      }
      for (let k = 0; k < 10; k += 1) bias[k] -= (rate / BATCH) * slope[item * 10 + k];
    }
    for (let at = 0; at < speed.length; at += 1) weights[at] += speed[at];
  }
  return chances;
}
