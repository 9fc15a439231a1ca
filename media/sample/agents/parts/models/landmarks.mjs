import * as softmax from './softmax.mjs';

/** A kernel machine in small: how much a row is like each of some training rows (Gaussian), then softmax regression on that. */

export const defaults = { landmarks: 100, reach: 0.6, rate: 0.2, decay: 0.0001, steps: 400 };

export const space = {
  landmarks: { min: 60, max: 300, integer: true, log: true },
  reach: { min: 0.1, max: 3, log: true },
  rate: { min: 0.02, max: 2, log: true },
  decay: { min: 0.000001, max: 0.01, log: true },
  steps: { min: 300, max: 900, integer: true, log: true },
};

/** @returns {(rows: Float32Array) => Float32Array} rows (m × width) to chances (m × 10) */
export function fit(x, y, { width, params, random }) {
  const count = Math.min(params.landmarks, y.length);
  const chosen = random.shuffle(Array.from(y, (_, row) => row)).slice(0, count);
  function likeness(rows) {
    const out = new Float32Array((rows.length / width) * count);
    for (let row = 0; row < rows.length / width; row += 1) {
      chosen.forEach((landmark, at) => {
        let distance = 0;
        for (let column = 0; column < width; column += 1) {
          distance += (rows[row * width + column] - x[landmark * width + column]) ** 2;
        }
        out[row * count + at] = 2 * Math.exp(-distance / (width * params.reach));
      });
    }
    return out;
  }
  const chances = softmax.fit(likeness(x), y, { width: count, params, random });
  return (rows) => chances(likeness(rows));
}
