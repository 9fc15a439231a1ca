import type { FailureReason, Failure } from '../../src/agents/port.ts';
import { decideIntent } from '../../src/controller/intents.ts';
import {
  admit,
  callerOf,
  decideSubmission,
  decideUncaptured,
  sentBefore,
  undecided,
  type Caller,
} from '../../src/experiments/decide.ts';
import type { RejectionCode } from '../../src/experiments/model.ts';
import type { SessionName } from '../../src/options/model.ts';
import type { Intent } from '../../src/protocol/client.ts';
import { decideBallot } from '../../src/review/decide.ts';
import { capOf, experimentsLeft } from '../../src/run/schedule.ts';
import { recordAttemptEnd } from './carryOut.ts';
import { exits, inProcess, spawns, type Process } from './processes.ts';
import type { AttemptScript, BallotScript, Disturbance, SubmissionScript } from './scenario.ts';
import type { World } from './simulation.ts';

/** Times that a call is sent again when no answer comes. */
const resends = 3;

/** Plays an exploring agent's next script under this nonce. */
export function playAttempt(world: World, start: { session: SessionName & { kind: 'option' }; nonce: string }): void {
  const { attempts } = world.scenario;
  const script = attempts[world.counters.attempt++ % attempts.length];
  if (!script) return;
  const { session, nonce } = start;
  world.later(script.spawnMs, () => {
    if (world.abandoned.has(nonce)) return;
    if (!script.starts) return notStarted(world, session, nonce);
    const process = spawns(world, { nonce, session, looksAfter: script.looksAfter });
    speaks(world, process);
    for (const submission of script.submissions)
      inProcess(world, process, {
        delay: submission.after,
        act: () => submits(world, process, { submission, request: `r${++world.counters.request}`, tries: 0 }),
      });
    if (script.responds) responds(world, process, script.responds);
    inProcess(world, process, { delay: script.end.after, act: () => endsAs(world, process, script.end) });
  });
}

/** As followResponses, one at a time: what is said while no controller lives is read by the next one. */
function responds(world: World, process: Process, script: NonNullable<AttemptScript['responds']>, said = 0): void {
  const { session } = process;
  inProcess(world, process, {
    delay: script.every,
    act() {
      responds(world, process, script, world.up ? 0 : said + 1);
      const attempt = world.up ? world.state.options.at(-1)?.attempts.at(-1) : undefined;
      if (!session || attempt?.nonce !== process.nonce || attempt.state === 'ended') return;
      const counts = {
        uncachedInput: script.tokens,
        cachedInput: 0,
        cacheWrite: 0,
        output: 0,
        reasoning: 0,
        toolCalls: 1,
      };
      const responses = Array.from({ length: said + 1 }, () => ({
        ...{ id: `m${++world.counters.request}`, at: world.now().wall, model: 'm' },
        ...counts,
      }));
      world.append([{ type: 'attempt.responded', data: { session, attempt: attempt.number, responses } }]);
    },
  });
}

function notStarted(world: World, session: SessionName, nonce: string): void {
  const attempt = world.state.options.at(-1)?.attempts.find((one) => one.nonce === nonce);
  if (attempt) recordAttemptEnd(world, session, attempt);
  world.finish(`attempt ${nonce}`);
}

const speaks = (world: World, process: Process): void =>
  inProcess(world, process, { delay: 40, act: () => void (process.spoke = true) });

function endsAs(world: World, process: Process, end: AttemptScript['end']): void {
  switch (end.how) {
    case 'endless':
      return;
    case 'vanishes':
      process.lost = true;
      return;
    case 'stalls':
      return stalls(world, process);
    case 'natural':
      return exits(world, process, { cause: 'exit' });
    default:
      return exits(world, process, { cause: 'exit', failure: failing(world, end.how, end.resetIn) });
  }
}

function failing(world: World, reason: FailureReason, resetIn: number | null): Failure {
  return { reason, detail: `it said ${reason}`, ...(resetIn === null ? {} : { resetAt: world.now().wall + resetIn }) };
}

/** As StallWatch: not while paused or while something is judged. */
function stalls(world: World, process: Process): void {
  const { session } = process;
  const option = world.state.options.at(-1);
  const attempt = option?.attempts.at(-1);
  const quiet = world.up && !world.state.pause && undecided(world.state).length === 0;
  if (!quiet || !session || option?.state !== 'open' || attempt?.nonce !== process.nonce)
    return inProcess(world, process, { delay: 5_000, act: () => stalls(world, process) });
  world.append([{ type: 'attempt.ending', data: { session, attempt: attempt.number, reason: 'stall' } }]);
  inProcess(world, process, { delay: 100, act: () => exits(world, process, { cause: 'ended' }) });
}

interface Call {
  readonly submission: SubmissionScript;
  readonly request: string;
  readonly tries: number;
}

const tokenOf = (process: Process): string =>
  process.session?.kind === 'option' ? `token-${process.session.number}` : 'token-review';

/** As `hma submit`: the same call is sent again until an answer comes. */
function submits(world: World, process: Process, call: Call): void {
  let answered = false;
  if (world.up) {
    submit(world, { token: tokenOf(process), call }, (reply) => {
      answered = true;
      if ('id' in reply && call.submission.again && call.tries < resends)
        inProcess(world, process, { delay: 700, act: () => submits(world, process, { ...call, tries: resends }) });
    });
  }
  inProcess(world, process, {
    delay: 2_500,
    act: () => void (!answered && call.tries < resends && submits(world, process, { ...call, tries: call.tries + 1 })),
  });
}

type Reply = { readonly id: string } | { readonly refused: { readonly code: RejectionCode } };

/** As Gate.submit. */
function submit(world: World, request: { token: string; call: Call }, answer: (reply: Reply) => void): void {
  const { token, call } = request;
  const caller = callerOf(world.state, token);
  const option = caller.kind === 'option' ? world.state.options[caller.option - 1] : undefined;
  const again = option && sentBefore(world.state, option, call.request);
  if (again) return tell(world, { token, call, id: again }, answer);
  const turnedAway = admit(world.state, caller, world.given());
  if (turnedAway && !(option && turnedAway.code !== 'paused'))
    return refuse(world, { option: option?.number, code: turnedAway.code }, answer);
  world.later(call.submission.captureMs, () =>
    captured(world, { token, call, caller, number: option?.number ?? 0, turnedAway: turnedAway?.code ?? null }, answer),
  );
}

interface Captured {
  readonly token: string;
  readonly call: Call;
  readonly caller: Caller;
  readonly number: number;
  readonly turnedAway: RejectionCode | null;
}

function captured(world: World, what: Captured, answer: (reply: Reply) => void): void {
  const { call, number, turnedAway } = what;
  const option = world.state.options[number - 1];
  if (!option) return refuse(world, { option: undefined, code: 'not_your_turn' }, answer);
  const { trouble, content } = call.submission;
  const base = { option, attempt: option.attempts.length, note: null, reported: null, request: call.request };
  const rejected = (code: RejectionCode): void => {
    const { id, facts } = decideUncaptured(world.state, { ...base, code, reason: code });
    world.append(facts);
    tell(world, { ...what, id }, answer);
  };
  if (trouble === 'unstable' || trouble === 'too_large')
    return turnedAway ? refuse(world, { option: number, code: turnedAway }, answer) : rejected(trouble);
  const contentHash = hashOf(content, number);
  const decided = decideSubmission(world.state, {
    ...base,
    captured: { snapshot: `s-${contentHash}`, contentHash, files: 1, bytes: 9 },
    tampered: trouble === 'tampered' ? ['data/test.csv'] : [],
  });
  if (decided.kind === 'known') return tell(world, { ...what, id: decided.id }, answer);
  const late = admit(world.state, what.caller, world.given());
  if (late) return turnedAway ? refuse(world, { option: number, code: late.code }, answer) : rejected(late.code);
  world.append(decided.facts);
  tell(world, { ...what, id: decided.id }, answer);
}

/** Small numbers are the same files whoever makes them; others are the option's own. */
const hashOf = (content: number, option: number): string => (content <= 2 ? `h${content}` : `h${content}-${option}`);

/** Ids that were told, by the session and call: the same call has one id for ever, and an id belongs to its own session's files. */
function tell(world: World, what: { token: string; call: Call; id: string }, answer: (reply: Reply) => void): void {
  const { token, call, id } = what;
  const found = world.state.experiments.filter((e) => e.id === id);
  if (found.length !== 1) world.breach(`${id} was told and is there ${found.length} times`);
  if (found.some((e) => `token-${e.option}` !== token)) world.breach(`${id} was told to ${token}`);
  const { captured: files } = found[0] ?? {};
  if (files && files.contentHash !== hashOf(call.submission.content, found[0]?.option ?? 0))
    world.breach(`${id} is not what was submitted`);
  // A call that was answered with another call's experiment may become one of its own when that one has been rejected since.
  const own = world.state.experiments.find(
    (e) => e.request === call.request && world.told.has(`${call.request} ${e.id}`),
  );
  if (own && own.id !== id) world.breach(`${call.request} had ${own.id} and was told ${id}`);
  world.told.add(`${call.request} ${id}`);
  answer({ id });
}

function refuse(
  world: World,
  what: { option: number | undefined; code: RejectionCode },
  answer: (reply: Reply) => void,
): void {
  const before = world.refusals.get(what.option ?? 0) ?? 0;
  world.refusals.set(what.option ?? 0, before + 1);
  if (before < 20 && world.state.phase !== 'finished')
    world.append([{ type: 'submission.refused', data: { option: what.option ?? null, code: what.code } }]);
  answer({ refused: { code: what.code } });
}

/** The session prints the receipt of an acceptance after a while; as Gate.receiptSeen. */
export function showReceipt(world: World, accepted: { readonly id: string; readonly option: number }): void {
  const attempt = world.state.options[accepted.option - 1]?.attempts.at(-1);
  const process = world.processes.get(attempt?.nonce ?? '');
  if (!process || process.looksAfter === null) return;
  inProcess(world, process, {
    delay: process.looksAfter,
    act: () => {
      const option = world.state.options.at(-1);
      if (!world.up || option?.number !== accepted.option || option.state !== 'open' || option.capSeenAt !== null)
        return;
      const full = option.accepted.length >= capOf(world.state) || experimentsLeft(world.state) <= 0;
      if (full && option.accepted.at(-1) === accepted.id)
        world.append([{ type: 'option.capSeen', data: { option: option.number } }]);
    },
  });
}

/** Plays a reviewer's next script under this nonce. */
export function playReview(world: World, nonce: string): void {
  const { reviews } = world.scenario;
  const script = reviews[world.counters.review++ % reviews.length];
  if (!script) return;
  world.later(script.spawnMs, () => {
    if (world.abandoned.has(nonce)) return;
    const process = spawns(world, { nonce, session: { kind: 'review' }, looksAfter: null });
    speaks(world, process);
    for (const ballot of script.ballots)
      inProcess(world, process, { delay: ballot.after, act: () => casts(world, ballot) });
    inProcess(world, process, {
      delay: script.end.after,
      act: () => endsAs(world, process, { ...script.end, how: script.end.how, resetIn: null, after: 0 }),
    });
  });
}

/** As Gate.nominate, or a ballot written by hand. */
function casts(world: World, ballot: BallotScript): void {
  const text = JSON.stringify({
    candidate: world.state.archive[ballot.pick]?.id ?? `e${90 + ballot.pick}`,
    reason: 'the steadiest',
  });
  if (ballot.via === 'file') {
    world.ballot = text;
    if (world.up) world.later(1_000, () => readBallot(world));
    return;
  }
  const { review } = world.state;
  if (!world.up || callerOf(world.state, 'token-review').kind !== 'review' || review?.state !== 'open') return;
  const fact = decideBallot(world.state, JSON.parse(text) as { candidate: unknown; reason: unknown });
  if (fact.data.valid && review.nomination?.candidate === fact.data.candidate) return;
  if (fact.data.valid) world.ballot = text;
  world.append([fact]);
}

/** As Controller.#readBallot. */
export function readBallot(world: World): void {
  const { review } = world.state;
  if (!review || review.state === 'closed' || world.ballot === null || world.ballot === world.ballotSeen) return;
  world.ballotSeen = world.ballot;
  const fact = decideBallot(world.state, JSON.parse(world.ballot) as { candidate: unknown; reason: unknown });
  const known =
    fact.data.valid &&
    review.nomination?.candidate === fact.data.candidate &&
    review.nomination.reason === fact.data.reason;
  if (!known) world.append([fact]);
}

/** Resumes after which a person has had enough and stops the run. */
const patience = 8;

/** A person leaves no run paused for ever. */
export function resumeLater(world: World): void {
  const resume = (): void => {
    if (!world.up) return world.schedule(500, resume);
    if (world.state.pause && world.state.phase !== 'finished')
      intend(world, { kind: ++world.counters.resume > patience ? 'stop' : 'resume', by: 'mina' });
  };
  world.schedule(world.scenario.pauseMs, resume);
}

/** As carryOut in intents.ts. */
export function intend(world: World, intent: Intent): void {
  if (intent.kind === 'message') return; // it changes no decision
  if (intent.kind === 'handoff') {
    const option = world.state.options.at(-1);
    if (option?.state === 'open')
      world.append([{ type: 'option.ending', data: { option: option.number, reason: 'handoff', descendants: [] } }]);
    return;
  }
  const decided = decideIntent(world.state, intent, world.given());
  if ('facts' in decided) world.append(decided.facts);
}

/** Something from outside. What needs a controller waits for one. */
export function disturb(world: World, what: Disturbance['what']): void {
  if (what.do === 'wall') return world.stepWall(what.stepMs);
  if (!world.up) return world.schedule(500, () => disturb(world, what));
  switch (what.do) {
    case 'intend':
      return intend(world, what.intent);
    case 'selectLatest':
      return intend(world, {
        kind: 'select',
        candidate: world.state.archive.at(-1)?.id ?? 'e99',
        reason: 'I know it',
        by: 'mina',
      });
    case 'stale':
    case 'foreign': {
      const number = world.state.options.length - 1;
      const token = what.do === 'stale' && number > 0 ? `token-${number}` : 'nonsense';
      const submission: SubmissionScript = { after: 0, content: 12, captureMs: 0, trouble: 'none', again: false };
      submit(world, { token, call: { submission, request: `x${++world.counters.request}`, tries: 0 } }, (reply) => {
        if ('id' in reply) world.breach(`${token} was given ${reply.id}`);
      });
    }
  }
}
