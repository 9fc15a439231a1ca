/** Chances are flat arrays, n × 10: row by row the probabilities of the digits 0 to 9. */

/** Log loss of each row: −ln of the probability given to what it really is. */
export function lossPerRow(chances, labels) {
  return Float64Array.from(labels, (label, row) => -Math.log(Math.max(1e-15, chances[row * 10 + label])));
}

/** @param {ArrayLike<number>} values */
export function mean(values) {
  let sum = 0;
  for (let at = 0; at < values.length; at += 1) sum += values[at];
  return sum / values.length;
}

/** Mean log loss; lower is better, ln 10 = 2.303 is knowing nothing. */
export const logLoss = (chances, labels) => mean(lossPerRow(chances, labels));

/** Share of rows whose most probable digit is wrong. */
export function errorRate(chances, labels) {
  let wrong = 0;
  labels.forEach((label, row) => {
    const ten = chances.subarray(row * 10, row * 10 + 10);
    if (ten.indexOf(Math.max(...ten)) !== label) wrong += 1;
  });
  return wrong / labels.length;
}

/** Turns ten scores into ten chances, in place. */
export function softmaxInPlace(scores, from) {
  let top = -Infinity;
  for (let k = from; k < from + 10; k += 1) top = Math.max(top, scores[k]);
  let sum = 0;
  for (let k = from; k < from + 10; k += 1) sum += scores[k] = Math.exp(scores[k] - top);
  for (let k = from; k < from + 10; k += 1) scores[k] /= sum;
}

/**
 * The opinion of several models: weighted mean of their chances, then sharpened (temperature below 1) or softened (above 1).
 * No chance is below about 0.0001, so that one sure mistake can't cost everything.
 */
export function blend(opinions, weights, temperature) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mixed = new Float32Array(opinions[0].length);
  opinions.forEach((chances, member) => {
    const share = weights[member] / total;
    for (let at = 0; at < mixed.length; at += 1) mixed[at] += share * chances[at];
  });
  for (let at = 0; at < mixed.length; at += 1) mixed[at] = Math.log(mixed[at] + 1e-4) / temperature;
  for (let row = 0; row < mixed.length; row += 10) softmaxInPlace(mixed, row);
  return mixed;
}
