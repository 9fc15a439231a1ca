/**
 * `npm run proof`: plays the journeys with real commands and real runs, writes their transcripts to docs/journeys, and compares
 * alternation with each agent alone (docs/demo-table.md); takes pictures of every state of the extension in a real VS Code
 * (test-output/shots, docs/images). Exit code 0 only if every journey holds and every state was reached.
 *
 *   npm run proof [-- NAME …]    only these: a journey's name or its beginning, `table` or `shots`
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { root as repository } from '../bootstrap/environment.mjs';
import { buildAll } from '../bootstrap/esbuild.mjs';
import { compare, comparisonTable, nameOf, size } from '../demo/comparison.ts';
import { hmaBundle } from '../demo/place.ts';
import { openDesk } from './desk.ts';
import { badContract } from './journeys/badContract.ts';
import { blindTask } from './journeys/blindTask.ts';
import { everythingDies } from './journeys/everythingDies.ts';
import { firstNight } from './journeys/firstNight.ts';
import { insideASession } from './journeys/insideASession.ts';
import type { Journey } from './journeys/journey.ts';
import { takingPart } from './journeys/takingPart.ts';
import { proveShots } from './shots/shots.ts';

const journeys: readonly Journey[] = [firstNight, takingPart, everythingDies, badContract, blindTask, insideASession];
const folder = join(repository, 'docs', 'journeys');
const made =
  'Made by `npm run proof` from real commands and real runs; do not edit. Times, ids and process numbers are made the same, everything else is as it was printed.';

/** Plays one journey; its transcript goes to docs/journeys, that of a broken one aside. Gives back whether it holds. */
async function prove(journey: Journey): Promise<boolean> {
  const started = performance.now();
  const desk = openDesk('curve'); // no `await using`: Node 22 doesn't know it
  let broken: string | undefined;
  const failed = (error: unknown): void =>
    void (broken ??= error instanceof Error ? error.message : JSON.stringify(error));
  await journey.play(desk).catch(failed);
  await desk.close().catch(failed);
  const text = `# ${journey.title}\n\n${made}\n\n${desk.transcript()}`;
  const path =
    broken === undefined
      ? join(folder, `${journey.name}.md`)
      : join(repository, 'test-output', `${journey.name}.broken.md`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${text.trimEnd()}\n`);
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(5);
  console.log(`${broken === undefined ? '✓' : '✗'} ${journey.name.padEnd(22)} ${seconds} s  ${path}`);
  if (broken !== undefined) console.log(`    ${broken}`);
  return broken === undefined;
}

/** Compares alternation with each agent alone and writes the table down, whoever wins. */
async function proveTable(): Promise<boolean> {
  const all = await compare((one) =>
    console.log(`  seed ${one.seed}, ${nameOf(one)}: ${one.state.archive.length} experiments`),
  );
  const complete = all.every(
    ({ exit, state, outOfIdeas }) => exit === 0 && (outOfIdeas || state.archive.length === size.experiments),
  );
  const intro = `Real runs of the bundled sample, the same engine and the same budget of ${size.experiments} accepted experiments for all: demo-tuner (A) and demo-builder (B) in alternation with cap ${size.cap}, and each alone (\`policy: single\`). Lower is better (log loss). The agents are scripts made for demonstration, so this says how the engine runs, not how language models compare. Alone there is no review, the last candidate is final, and a script that ended its turn twice in a row without a new candidate is out of ideas.`;
  const path = join(repository, 'docs', 'demo-table.md');
  writeFileSync(
    path,
    `# Alternation and each agent alone\n\n${intro}\n\nMade by \`npm run proof\`; do not edit.\n\n${comparisonTable(all)}\n`,
  );
  console.log(`${complete ? '✓' : '✗'} table  ${path}`);
  return complete;
}

async function main(names: readonly string[]): Promise<number> {
  const wanted = (name: string): boolean =>
    names.length === 0 || names.some((each) => name.startsWith(each) || name.slice(2).startsWith(each));
  const chosen = journeys.filter(({ name }) => wanted(name));
  if (chosen.length === 0 && !wanted('table') && !wanted('shots')) {
    console.error(
      `No journey is called ${names.join(', ')}. There are: ${journeys.map(({ name }) => name).join(', ')}, table, shots`,
    );
    return 64;
  }
  const { wrong } = await buildAll(dirname(hmaBundle));
  if (wrong.length > 0) {
    console.error(wrong.join('\n'));
    return 1;
  }
  let failed = 0;
  for (const journey of chosen) if (!(await prove(journey))) failed += 1;
  if (wanted('table') && !(await proveTable())) failed += 1;
  if (wanted('shots') && !(await proveShots())) failed += 1;
  console.log(failed === 0 ? 'all hold' : `${failed} broken`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
