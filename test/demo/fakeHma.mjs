#!/usr/bin/env node
/**
 * A stand-in for the `hma` of a session, for testing the demonstration agents without the engine. It keeps an archive in the
 * folder `$FAKE_HMA`, runs the task's real evaluator, and ends the session at its cap as the engine does (SIGTERM after the
 * k-th receipt).
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { FAKE_HMA: home, FAKE_HMA_LABELS: labels, HMA_WORKSPACE: workspace } = process.env;
const file = join(home, 'state.json');
const state = JSON.parse(readFileSync(file, 'utf8'));
const save = () => writeFileSync(file, JSON.stringify(state, null, 2));
const [verb, ...rest] = process.argv.slice(2);
const flag = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

if (verb === 'submit') submit();
else if (verb === 'archive' && rest[0] === 'get') process.stdout.write(readFileSync(join(home, rest[1], rest[2])));
else if (verb === 'archive') {
  const candidates = state.candidates.map(({ agent, score, ...one }) => ({
    ...one,
    ...(state.blind ? {} : { score }),
    author: agent === state.agent ? 'you' : 'peer',
    unknown: 'a field of a later version',
  }));
  print({ candidates, standing: candidates.at(-1)?.id });
} else if (verb === 'nominate') {
  if (!state.candidates.some(({ id }) => id === rest[0])) process.exit(2);
  state.nominations.push({ id: rest[0], reason: flag('--reason') });
  save();
} else process.exit(64);

function submit() {
  const id = `e${(state.received += 1)}`;
  print({ id });
  if (state.accepted >= state.cap || state.candidates.length >= state.experiments)
    return refuse(id, 'cap_reached', 'this option has its experiments');
  const folder = join(home, id);
  mkdirSync(folder);
  for (const part of ['predictions.csv', 'solution'])
    if (existsSync(join(workspace, part))) cpSync(join(workspace, part), join(folder, part), { recursive: true });
  const result = join(folder, 'result.json');
  spawnSync(process.execPath, [join(workspace, 'evaluate.mjs'), '--labels', labels], {
    env: { ...process.env, HMA_CANDIDATE: folder, HMA_RESULT: result },
  });
  const verdict = JSON.parse(readFileSync(result, 'utf8'));
  if (verdict.invalid !== undefined) return refuse(id, 'invalid', verdict.invalid);
  state.accepted += 1;
  state.candidates.push({
    id,
    order: state.candidates.length + 1,
    agent: state.agent,
    option: state.option,
    score: verdict.score,
    reported: Number(flag('--score')),
    note: flag('--note'),
  });
  save();
  print({ id, outcome: 'accepted', ...(state.blind ? {} : { score: verdict.score }), remaining: {} });
  if (state.accepted >= state.cap || state.candidates.length >= state.experiments)
    process.kill(process.ppid, 'SIGTERM');
}

function refuse(id, code, reason) {
  save();
  print({ id, outcome: 'rejected', code, reason });
  process.exitCode = 2;
}
