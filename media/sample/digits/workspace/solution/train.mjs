import { readFileSync } from 'node:fs';
import { openPipeline } from './pipeline.mjs';

/** `node solution/train.mjs`: estimates `solution.json`, writes `predictions.csv`, and says what to submit. */
const solution = JSON.parse(readFileSync(new URL('solution.json', import.meta.url), 'utf8'));
const pipeline = openPipeline();
const { loss, error, wrong } = await pipeline.estimate(solution);
await pipeline.predict(solution);
console.log(`log loss on unseen writers ${loss.toFixed(4)} ± ${error.toFixed(4)}, ${(100 * wrong).toFixed(1)} % wrong`);
console.log(`next: hma submit --score ${loss.toFixed(4)} --note "..."`);
