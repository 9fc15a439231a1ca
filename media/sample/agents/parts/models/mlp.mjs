import { softmaxInPlace } from '../../lib/loss.mjs';

/** A neural network with one hidden layer of rectified units, trained by stochastic gradient descent with momentum. */

export const defaults = { hidden: 24, rate: 0.05, decay: 0.0001, steps: 500 };

export const space = {
  hidden: { min: 12, max: 40, integer: true, log: true },
  rate: { min: 0.01, max: 0.2, log: true },
  decay: { min: 0.00001, max: 0.03, log: true },
  steps: { min: 300, max: 900, integer: true, log: true },
};

const BATCH = 16;

/** @returns {(rows: Float32Array) => Float32Array} rows (m × width) to chances (m × 10) */
export function fit(x, y, { width, params, random }) {
  const { hidden } = params;
  const layer = (inputs, outputs) => ({
    weights: Float32Array.from({ length: inputs * outputs }, () => random.normal() * Math.sqrt(2 / inputs)),
    speed: new Float32Array(inputs * outputs),
    slope: new Float32Array(inputs * outputs),
  });
  // one input more than given, always 1, is the bias
  const first = layer(width + 1, hidden);
  const second = layer(hidden + 1, 10);
  const units = new Float32Array(hidden + 1);
  const back = new Float32Array(hidden);

  /** Fills `units` and ten chances at `out[to]` from one row. */
  function forward(rows, from, out, to) {
    units.set(first.weights.subarray(width * hidden));
    for (let at = 0; at < width; at += 1) {
      const value = rows[from + at];
      if (value === 0) continue;
      for (let unit = 0, w = at * hidden; unit < hidden; unit += 1, w += 1) units[unit] += value * first.weights[w];
    }
    units[hidden] = 1;
    out.fill(0, to, to + 10);
    for (let unit = 0; unit <= hidden; unit += 1) {
      if (units[unit] <= 0) units[unit] = 0;
      else for (let k = 0; k < 10; k += 1) out[to + k] += units[unit] * second.weights[unit * 10 + k];
    }
    softmaxInPlace(out, to);
  }

  /** Adds one row's slopes, `ten` being chances minus truth. */
  function backward(from, ten) {
    for (let unit = 0; unit <= hidden; unit += 1) {
      let push = 0;
      for (let k = 0; k < 10; k += 1) {
        push += ten[k] * second.weights[unit * 10 + k];
        second.slope[unit * 10 + k] += units[unit] * ten[k];
      }
      if (unit < hidden) back[unit] = units[unit] > 0 ? push : 0;
    }
    for (let at = 0; at <= width; at += 1) {
      const value = at === width ? 1 : x[from + at];
      for (let unit = 0, w = at * hidden; unit < hidden; unit += 1, w += 1) first.slope[w] += value * back[unit];
    }
  }

  function learn({ weights, speed, slope }, rate) {
    for (let at = 0; at < weights.length; at += 1) {
      speed[at] = 0.9 * speed[at] - rate * (slope[at] / BATCH + params.decay * weights[at]);
      weights[at] += speed[at];
      slope[at] = 0;
    }
  }

  const ten = new Float32Array(10);
  for (let step = 0; step < params.steps; step += 1) {
    for (let item = 0; item < BATCH; item += 1) {
      const row = random.below(y.length);
      forward(x, row * width, ten, 0);
      ten[y[row]] -= 1;
      backward(row * width, ten);
    }
    const rate = params.rate * (1 - step / params.steps);
    learn(first, rate);
    learn(second, rate);
  }
  return (rows) => {
    const out = new Float32Array((rows.length / width) * 10);
    for (let row = 0; row < rows.length / width; row += 1) forward(rows, row * width, out, row * 10);
    return out;
  };
}
