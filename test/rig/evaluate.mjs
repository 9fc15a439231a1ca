// The evaluator of test tasks: candidate.txt holds a number, or words that make the evaluator misbehave.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const text = readFileSync(join(process.env.HMA_CANDIDATE, 'candidate.txt'), 'utf8').trim();
const result = process.env.HMA_RESULT;
const [word, argument] = text.split(':');
const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
switch (word) {
  case 'nothing':
    break;
  case 'crash':
    process.exit(3);
    break;
  case 'nan':
    writeFileSync(result, '{"score": NaN}');
    break;
  case 'infinity':
    writeFileSync(result, '{"score": Infinity}');
    break;
  case 'two':
    writeFileSync(result, '{"score": 1}{"score": 2}');
    break;
  case 'invalid':
    writeFileSync(result, JSON.stringify({ invalid: argument ?? 'no reason' }));
    break;
  case 'incorrect':
    writeFileSync(result, JSON.stringify({ score: 9, correct: false }));
    break;
  case 'hang':
    spawn(process.execPath, ['-e', 'process.on("SIGTERM",()=>{});setInterval(()=>{},1e9)'], {
      detached: true,
      stdio: 'ignore',
    });
    for (;;) wait(1000);
  case 'loud':
    for (let i = 0; i < 2000; i++) writeSync(1, 'x'.repeat(65536));
    writeFileSync(result, JSON.stringify({ score: 1 }));
    break;
  case 'slow':
    wait(Number(argument));
    writeFileSync(result, JSON.stringify({ score: Number(argument) / 1000 }));
    break;
  default:
    writeFileSync(result, JSON.stringify({ score: Number(word) }));
}
