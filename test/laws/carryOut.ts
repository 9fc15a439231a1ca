import { decideAttemptEnd, closureOf } from '../../src/options/decide.ts';
import { isUndecided } from '../../src/experiments/model.ts';
import type { EvaluationStep } from '../../src/experiments/decide.ts';
import type { Failure } from '../../src/agents/port.ts';
import type { Attempt, Option, SessionName } from '../../src/options/model.ts';
import type { Review } from '../../src/review/model.ts';
import type { Step } from '../../src/run/next.ts';
import { verdictsEndAt } from '../../src/run/schedule.ts';
import type { World } from './simulation.ts';
import { exits, inProcess, lives, setFrozen, spawns, type Process } from './processes.ts';
import { playAttempt, playReview, readBallot } from './sessions.ts';

const sessionOf = (world: World, name: SessionName): Option | Review | undefined =>
  name.kind === 'review' ? (world.state.review ?? undefined) : world.state.options[name.number - 1];

const newNonce = (world: World): string => `n${++world.counters.nonce}`;

/** As Controller.#evaluationStep. */
export function carryOutEvaluation(world: World, step: EvaluationStep): void {
  switch (step.do) {
    case 'nothing':
      return;
    case 'record':
      return world.append(step.facts);
    case 'startEvaluation':
      return world.append([
        { type: 'evaluation.starting', data: { id: step.id, nonce: newNonce(world), kind: step.kind } },
      ]);
    case 'watchEvaluation':
      return world.effect(`evaluation ${step.id} ${step.nonce}`, () => startEvaluation(world, step.nonce));
    case 'abandonEvaluation':
      return world.effect(`abandon ${step.nonce}`, () => abandon(world, step));
  }
}

function startEvaluation(world: World, nonce: string): void {
  if (world.processes.has(nonce)) return;
  world.later(15, () => {
    if (world.abandoned.has(nonce)) return;
    const { evaluations, terms } = world.scenario;
    const script = evaluations[world.counters.evaluation++ % evaluations.length];
    if (!script) return;
    const process = spawns(world, { nonce, session: null, looksAfter: null });
    const late = script.ms > terms.evaluate.timeoutMs;
    const verdict = late ? ({ kind: 'timeout', afterMs: terms.evaluate.timeoutMs } as const) : script.verdict;
    inProcess(world, process, {
      delay: Math.min(script.ms, terms.evaluate.timeoutMs),
      act: () => exits(world, process, { cause: 'exit', verdict }),
    });
  });
}

/** As abandonEvaluation: a verdict stamped in time still counts, else its program is ended and the experiment rejected. */
function abandon(world: World, what: Extract<EvaluationStep, { do: 'abandonEvaluation' }>): void {
  const { id, nonce, code, reason } = what;
  const process = world.processes.get(nonce);
  if (process?.exit && code === 'late' && world.activeOf(process.exit) < verdictsEndAt(world.state, world.given())) {
    recordVerdict(world, id, process);
    return world.finish(`abandon ${nonce}`);
  }
  world.abandoned.add(nonce);
  world.later(120, () => {
    const ending = world.processes.get(nonce);
    if (ending) exits(world, ending, { cause: 'ended' });
    const experiment = world.state.experiments.findLast((e) => e.id === id);
    if (experiment && isUndecided(experiment)) {
      world.append([
        { type: 'evaluation.ended', data: { id, nonce, verdict: { kind: 'lost' }, at: world.given().active } },
        { type: 'experiment.rejected', data: { id, option: experiment.option, code, reason, score: null } },
      ]);
    }
    world.finish(`abandon ${nonce}`);
  });
}

function recordVerdict(world: World, id: string, process: Process): void {
  const experiment = world.state.experiments.findLast((e) => e.id === id);
  if (!experiment || !isUndecided(experiment)) return;
  const { exit } = process;
  const at = exit ? world.activeOf(exit) : world.given().active;
  const truth = exit?.trueActive ?? null;
  if (truth !== null && Math.abs(at - truth) > 1e-6) world.breach(`a verdict of ${truth} is stamped ${at}`);
  world.append([
    { type: 'evaluation.ended', data: { id, nonce: process.nonce, verdict: exit?.verdict ?? { kind: 'lost' }, at } },
  ]);
}

/** As Controller.#sessionStep. */
export function carryOutStep(world: World, step: Step): void {
  switch (step.do) {
    case 'wait':
      return;
    case 'record':
      return world.append(step.facts);
    case 'openOption': {
      const option = world.state.options.length + 1;
      return world.append([
        { type: 'option.opened', data: { option, agent: step.agent, tokenHash: `token-${option}` } },
      ]);
    }
    case 'openReview':
      return slowly(world, 'open review', 100, () =>
        world.append([{ type: 'review.opened', data: { reviewer: step.reviewer, tokenHash: 'token-review' } }]),
      );
    case 'startAttempt': {
      const attempt = (sessionOf(world, step.session)?.attempts.length ?? 0) + 1;
      return world.append([
        { type: 'attempt.starting', data: { session: step.session, attempt, nonce: newNonce(world), promptHash: 'p' } },
      ]);
    }
    case 'watchAttempt': {
      const attempt = sessionOf(world, step.session)?.attempts.at(-1);
      if (attempt && attempt.state !== 'ended')
        world.effect(`attempt ${attempt.nonce}`, () => startAttempt(world, step.session, attempt));
      return;
    }
    case 'endOption':
      return world.append([
        { type: 'option.ending', data: { option: step.option, reason: step.reason, descendants: [] } },
      ]);
    case 'endReview':
      return world.append([{ type: 'review.ending', data: { reason: step.reason, descendants: [] } }]);
    case 'reap': {
      const { reapMs } = world.scenario;
      return slowly(
        world,
        `reap ${JSON.stringify(step.session)}`,
        reapMs[world.counters.reap % reapMs.length] ?? 5,
        () => reap(world, step.session),
      );
    }
    case 'clean':
      return slowly(world, 'clean', 20, () =>
        world.append([{ type: 'option.clean', data: { option: step.option, restored: [] } }]),
      );
    case 'closeOption':
      return slowly(world, 'close', 30, () => close(world, step.option));
    case 'grade':
      return world.effect(`grade ${step.id}`, () => grade(world, step.id));
  }
}

function slowly(world: World, key: string, ms: number, act: () => void): void {
  world.effect(key, () =>
    world.later(ms, () => {
      act();
      world.finish(key);
    }),
  );
}

function startAttempt(world: World, session: SessionName, { nonce }: Attempt): void {
  if (world.processes.has(nonce)) return;
  if (session.kind === 'review') return playReview(world, nonce);
  playAttempt(world, { session, nonce });
}

/** As closeOption. */
function close(world: World, number: number): void {
  const option = world.state.options[number - 1];
  if (!option) return;
  const last = option.attempts.at(-1);
  const endedItself = last?.state === 'ended' && last.endedItself;
  world.append([
    {
      type: 'option.closed',
      data: { option: number, closure: closureOf(world.state, option), endedItself, workspaceSnapshot: null },
    },
  ]);
}

function grade(world: World, id: string): void {
  if (world.state.grading?.id !== id)
    world.append([{ type: 'grading.starting', data: { id, nonce: newNonce(world) } }]);
  world.later(300, () => {
    world.append([
      {
        type: 'candidate.graded',
        data: { id, nonce: world.state.grading?.nonce ?? '', result: { kind: 'graded', grade: 0.5 } },
      },
    ]);
    world.finish(`grade ${id}`);
  });
}

/** As Controller.#reap. */
function reap(world: World, session: SessionName): void {
  for (const { nonce } of sessionOf(world, session)?.attempts ?? []) {
    const process = world.processes.get(nonce);
    if (process) exits(world, process, { cause: 'ended' });
    else world.abandoned.add(nonce);
  }
  const latest = sessionOf(world, session)?.attempts.at(-1);
  if (latest && latest.state !== 'ended') recordAttemptEnd(world, session, latest);
  if (session.kind === 'review') readBallot(world);
  const { survivors } = world.scenario;
  const survives = survivors[world.counters.reap++ % survivors.length] === true;
  const tree = { ended: [], survivors: survives ? [{ pid: 7, command: 'nohup train', ageMs: 9 }] : [], ms: 5 };
  world.append([
    session.kind === 'review'
      ? { type: 'review.reaped', data: tree }
      : { type: 'option.reaped', data: { option: session.number, ...tree } },
  ]);
  if (survives && !world.state.pause)
    world.append([{ type: 'run.paused', data: { reason: 'survivors', detail: '7 (nohup train)', by: 'hma' } }]);
}

/** As Controller.#keepFrozen. */
export function keepFrozen(world: World): void {
  for (const process of world.processes.values()) {
    if (process.session && lives(process)) setFrozen(world, process, world.state.pause !== null);
  }
}

/** What the supervising effects see and record: starts, first outputs, ends, verdicts. */
export function observe(world: World): void {
  for (const key of world.effects) {
    const [kind, first = '', second = ''] = key.split(' ');
    if (kind === 'attempt') observeAttempt(world, key, first);
    if (kind === 'evaluation') {
      const process = world.processes.get(second);
      if (process && !lives(process)) {
        recordVerdict(world, first, process);
        world.finish(key);
      } else if (world.abandoned.has(second) && !process) world.finish(key);
    }
  }
}

function observeAttempt(world: World, key: string, nonce: string): void {
  const names: SessionName[] = [
    ...world.state.options.slice(-1).map(({ number }): SessionName => ({ kind: 'option', number })),
    { kind: 'review' },
  ];
  const session = names.find((name) => sessionOf(world, name)?.attempts.some((attempt) => attempt.nonce === nonce));
  const attempt = session && sessionOf(world, session)?.attempts.find((one) => one.nonce === nonce);
  if (!attempt || attempt.state === 'ended') return world.finish(key);
  const process = world.processes.get(nonce);
  const named = { session, attempt: attempt.number };
  if (process && attempt.state === 'starting')
    world.append([{ type: 'attempt.started', data: { ...named, runner: { pid: 3, start: '1' } } }]);
  if (process?.spoke && attempt.state === 'running' && attempt.spokeAt === null)
    world.append([{ type: 'attempt.spoke', data: { ...named, mono: world.now().mono } }]);
  if (process && !lives(process)) {
    recordAttemptEnd(world, session, sessionOf(world, session)?.attempts.at(-1) ?? attempt);
    world.finish(key);
  }
}

/** As recordAttemptEnd, isOwnEnd and failureOf. */
export function recordAttemptEnd(world: World, name: SessionName, attempt: Attempt): void {
  const session = sessionOf(world, name);
  if (!session || attempt.state === 'ended') return;
  const process = world.processes.get(attempt.nonce);
  const stalled = attempt.state === 'running' && attempt.ending === 'stall';
  const exit = process?.exit ?? null;
  const endedItself =
    exit?.cause === 'exit' && !stalled && (session.endingMono === null || exit.mono < session.endingMono);
  const open = session.state === 'open';
  let failure: Failure | null = null;
  if (stalled) failure = { reason: 'stall', detail: 'no output' };
  else if (open)
    failure = process
      ? exit
        ? exit.failure
        : { reason: 'runner_lost', detail: 'its runner vanished' }
      : { reason: 'not_started', detail: 'not installed' };
  const option = 'number' in session ? session : null;
  const report = exit ? { code: 0, signal: null, cause: exit.cause, mono: exit.mono, boot: exit.boot } : null;
  world.append([
    decideAttemptEnd(
      world.state,
      { session: name, attempt, option, exit: report, endedItself, failure },
      world.given(),
    ),
  ]);
}
