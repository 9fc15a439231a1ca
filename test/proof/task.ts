/*
 * A small task of one's own, as the journeys write it: fit a curve to noisy points. `fit.mjs` really solves a least-squares problem;
 * everything is deterministic, so that scores in transcripts are the same each time.
 */

/** Makes the points: a sine with noise, from a fixed generator. */
export const points = `import { writeFileSync } from 'node:fs';

let seed = 7;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const point = () => {
  const x = random() * 2 - 1;
  return [x, Math.sin(4 * x) + 0.2 * (random() + random() + random() - 1.5)].map((v) => v.toFixed(4)).join(',');
};
writeFileSync('train.csv', Array.from({ length: 40 }, point).join('\\n'));
writeFileSync('check.csv', Array.from({ length: 200 }, point).join('\\n'));
`;

/** Fits a polynomial by ridge regression. */
export const fit = `import { readFileSync } from 'node:fs';

export const read = (file) => readFileSync(file, 'utf8').trim().split('\\n').map((line) => line.split(',').map(Number));
export const predict = ({ weights }, x) => weights.reduce((sum, w, power) => sum + w * x ** power, 0);

/** Solves (X'X + λI) w = X'y by elimination. */
export function fit({ degree, lambda }, points) {
  const n = degree + 1;
  const rows = Array.from({ length: n }, (_, i) => [
    ...Array.from({ length: n }, (_, j) => points.reduce((sum, [x]) => sum + x ** (i + j), i === j ? lambda : 0)),
    points.reduce((sum, [x, y]) => sum + x ** i * y, 0),
  ]);
  for (let at = 0; at < n; at += 1) {
    for (let below = 0; below < n; below += 1) {
      if (below === at) continue;
      const factor = rows[below][at] / rows[at][at];
      rows[below] = rows[below].map((value, column) => value - factor * rows[at][column]);
    }
  }
  return { degree, lambda, weights: rows.map((row, i) => row[n] / row[i]) };
}
`;

/** The evaluator: root mean squared error on points that the fit has not seen. */
export const evaluate = `import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { predict, read } from './fit.mjs';

const model = JSON.parse(readFileSync(join(process.env.HMA_CANDIDATE, 'model.json'), 'utf8'));
if (!Array.isArray(model.weights)) {
  writeFileSync(process.env.HMA_RESULT, JSON.stringify({ invalid: 'model.json has no list "weights"' }));
} else {
  const points = read('check.csv');
  const squares = points.map(([x, y]) => (predict(model, x) - y) ** 2);
  writeFileSync(process.env.HMA_RESULT, JSON.stringify({ score: Number(Math.sqrt(squares.reduce((a, b) => a + b) / squares.length).toFixed(5)) }));
}
`;

/** Where the agents begin. */
export const model = '{ "degree": 1, "lambda": 1, "weights": [0, 0] }\n';

/** An agent that raises the degree of what it finds; reviews by the best score. `rounds`: how often it submits. */
export const raiser = agent('raise the degree', 'model.degree += 1;');

/** An agent that lowers the regularization of what it finds. */
export const looser = agent('loosen the regularization', 'model.lambda /= 4;');

function agent(idea: string, change: string): string {
  return `import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const hma = (...words) => execFileSync('hma', words, { encoding: 'utf8' });
const { candidates } = JSON.parse(hma('archive', '--json'));
const best = candidates.toSorted((a, b) => a.score - b.score)[0];

if (process.env.HMA_ROLE === 'review') {
  console.log(hma('nominate', best.id, '--reason', \`lowest error of \${candidates.length}\`));
} else {
  const { fit, read } = await import(\`\${process.cwd()}/fit.mjs\`);
  const model = JSON.parse(best ? hma('archive', 'get', best.id, 'model.json') : readFileSync('model.json', 'utf8'));
  for (let round = 0; round < 2; round += 1) {
    ${change}
    writeFileSync('model.json', JSON.stringify(fit(model, read('train.csv'))));
    console.log(hma('submit', '--note', \`${idea}: degree \${model.degree}, λ \${model.lambda}\`, '--wait', '60'));
  }
}
`;
}

/** hma.yaml of the task; more keys can follow. The agents by absolute path: the final review's working folder is another. */
export const contract = (workspace: string, more = ''): string => `name: curve
objective: Fit the points in train.csv; the error on points you don't see counts.
candidate: [model.json]
protected: [fit.mjs, check.csv]
evaluate: { command: node evaluate.mjs, timeout: 1m }
metric: { name: error, direction: minimize }
agents:
  A: { name: raiser, adapter: command, command: [node, ${workspace}/raiser.mjs] }
  B: { name: looser, adapter: command, command: [node, ${workspace}/looser.mjs] }
${more}`;

/** The files of the task besides hma.yaml and the agents. */
export const files = { 'points.mjs': points, 'fit.mjs': fit, 'evaluate.mjs': evaluate, 'model.json': model } as const;
