import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { blindReceiptText } from '../evaluators/blindReceipt.ts';
import { checkProtected, pristineFile } from '../evaluators/protectedFiles.ts';
import { writeFileAtomic } from '../base/files.ts';
import { isBetter } from '../task/quality.ts';
import { record, standing } from '../archive/order.ts';
import {
  admit,
  callerOf,
  decideSubmission,
  decideUncaptured,
  sentBefore,
  undecided,
  type Caller,
} from '../experiments/decide.ts';
import type { Experiment, RejectionCode } from '../experiments/model.ts';
import { latestAttempt } from '../options/evolve.ts';
import type { Option } from '../options/model.ts';
import type {
  ArchiveReply,
  FileReply,
  FileRequest,
  NominateReply,
  NominateRequest,
  Receipt,
  Remaining,
  ResultReply,
  ResultRequest,
  StatusReply,
  SubmitReply,
  SubmitRequest,
  ValidateReply,
} from '../protocol/agent.ts';
import { decideBallot } from '../review/decide.ts';
import { capOf, experimentsLeft, explorationEndsAt, reviewerEndsAt } from '../run/schedule.ts';
import { fullnessOf } from '../machines/disk.ts';
import type { CaptureRefusal } from '../snapshots/port.ts';
import { crashAt } from './crashPoints.ts';
import { pauseWhenFull } from './disks.ts';
import { validateSnapshot } from './evaluations.ts';
import { archiveFor } from './materials.ts';
import type { Room } from './room.ts';
import { SessionFolder, tokenHashOf } from './sessionFolders.ts';

/** Refused calls of one option that are recorded; the rest is only answered. */
const refusalsRecorded = 20;
/** Longest note and nomination reason kept, characters. */
const longestNote = 4000;
/** Largest file handed to a session in one answer, bytes. */
const largestFile = 64 * 1024 * 1024;

/** What sessions ask, answered: the gate. All state changes go through the recorder, so that it decides under one lock. */
export class Gate {
  readonly #room: Room;
  readonly #refusals = new Map<number, number>();
  #validation: Promise<unknown> = Promise.resolve();

  constructor(room: Room) {
    this.#room = room;
  }

  #caller(token: string): { caller: Caller; option: Option | undefined } {
    const { state } = this.#room.recorder;
    const caller = callerOf(state, tokenHashOf(token));
    return { caller, option: caller.kind === 'option' ? state.options[caller.option - 1] : undefined };
  }

  /** Takes a submission: captures the candidate's files, and answers only when they and the event are on disk. */
  async submit(request: SubmitRequest): Promise<SubmitReply> {
    const { recorder } = this.#room;
    const { caller, option } = this.#caller(request.token);
    const again = option && sentBefore(recorder.state, option, request.request);
    if (again) return { id: again };
    const turnedAway = admit(recorder.state, caller, recorder.given());
    // Content equal to a pending or accepted submission is still answered when the option takes no more: a lost reply is read back.
    if (turnedAway && !(option && turnedAway.code !== 'paused')) return this.#refuse(option, turnedAway);
    const note = request.note === undefined ? null : request.note.slice(0, longestNote);
    const reported = request.reported === undefined || !Number.isFinite(request.reported) ? null : request.reported;
    const call = { note, reported, ...(request.request === undefined ? {} : { request: request.request }) };
    if (!turnedAway) this.#room.standby.expect();
    const captured = await this.#capture();
    const nowOption = option && recorder.state.options[option.number - 1];
    if (!nowOption)
      return this.#refuse(
        option,
        turnedAway ?? { code: 'not_your_turn', reason: 'this session is not the one whose turn it is' },
      );
    const attempt = latestAttempt(nowOption)?.number ?? 0;
    if (!captured.ok) {
      if (turnedAway) return this.#refuse(option, turnedAway);
      return this.#rejectUncaptured(nowOption, attempt, { ...call, ...this.#refusalOf(captured.refusal) });
    }
    const tampered = (await checkProtected(this.#room.workspace, this.#room.protectedFiles)).map(({ path }) => path);
    const decided = decideSubmission(recorder.state, {
      option: recorder.state.options[option.number - 1] ?? nowOption,
      attempt,
      ...call,
      captured: {
        snapshot: captured.value.id,
        contentHash: captured.value.contentHash,
        files: captured.value.files,
        bytes: captured.value.bytes,
      },
      tampered,
    });
    if (decided.kind === 'known') return { id: decided.id };
    const late = admit(recorder.state, caller, recorder.given());
    if (late)
      return turnedAway ? this.#refuse(option, late) : this.#rejectUncaptured(nowOption, attempt, { ...call, ...late });
    recorder.append(decided.facts);
    crashAt('reply.submit');
    return { id: decided.id };
  }

  #capture() {
    const { snapshots, workspace, contract } = this.#room;
    return snapshots.capture({
      root: workspace,
      include: contract.candidate,
      exclude: ['.hma'],
      limits: { bytes: contract.limits.candidateBytes, files: contract.limits.candidateFiles },
      kind: 'candidate',
      ref: `submission/${randomBytes(8).toString('hex')}`,
    });
  }

  #refuse(option: Option | undefined, refusal: { code: RejectionCode; reason: string }): SubmitReply {
    const number = option?.number ?? 0;
    const before = this.#refusals.get(number) ?? 0;
    this.#refusals.set(number, before + 1);
    if (before < refusalsRecorded && this.#room.recorder.state.phase !== 'finished') {
      this.#room.recorder.append([
        { type: 'submission.refused', data: { option: option?.number ?? null, code: refusal.code } },
      ]);
    }
    return { refused: refusal };
  }

  #rejectUncaptured(
    option: Option,
    attempt: number,
    why: { note: string | null; reported: number | null; request?: string; code: RejectionCode; reason: string },
  ): SubmitReply {
    const { recorder } = this.#room;
    const { id, facts } = decideUncaptured(recorder.state, { option, attempt, ...why });
    recorder.append(facts);
    crashAt('reply.submit');
    return { id };
  }

  /** What a capture's refusal means to the agent. A full or failing store is the machine's fault and pauses the run. */
  #refusalOf(refusal: CaptureRefusal): { code: RejectionCode; reason: string } {
    const where = refusal.path === undefined || refusal.detail.includes(refusal.path) ? '' : `${refusal.path}: `;
    switch (refusal.reason) {
      case 'unstable':
      case 'too_large':
        return { code: refusal.reason, reason: `${where}${refusal.detail}` };
      case 'disk_full':
      case 'failed':
        this.#pauseUnkept(refusal);
        return {
          code: 'evaluator_error',
          reason: 'the submission could not be kept; this is not your fault, submit again later',
        };
      case 'missing':
      case 'special_file':
      case 'outside':
      case 'unreadable':
        return { code: 'invalid', reason: `${where}${refusal.detail}` };
    }
  }

  #pauseUnkept({ reason, detail }: CaptureRefusal): void {
    const { recorder, folder } = this.#room;
    if (recorder.state.pause) return;
    const full = reason === 'disk_full' ? (fullnessOf(new Error(detail), folder) ?? 'space') : null;
    recorder.append([
      full === null
        ? {
            type: 'run.paused',
            data: { reason: 'state_unwritable', detail: `a submission could not be kept: ${detail}`, by: 'hma' },
          }
        : pauseWhenFull(this.#room, recorder.state, { full, what: 'a submission' }),
    ]);
  }

  /** The receipt of an experiment of this session, waiting for the verdict at most as long as asked. */
  async result(request: ResultRequest): Promise<ResultReply> {
    const { option, caller } = this.#caller(request.token);
    const found = this.#room.recorder.state.experiments.find((e) => e.id === request.id);
    if (caller.kind === 'unknown') return { refused: { code: 'not_your_turn', reason: 'this session is over' } };
    if (!found || found.option !== option?.number)
      return { refused: { code: 'unknown', reason: `this session has no experiment ${request.id}` } };
    const decided = await this.#decided(request.id, Math.min(Math.max(0, request.waitMs), 2 ** 31 - 1));
    crashAt('reply.result');
    return this.#receipt(decided ?? found);
  }

  /** Resolves with the experiment once it is decided, or with its latest state after `waitMs`. */
  #decided(id: string, waitMs: number): Promise<Experiment | undefined> {
    const look = (): Experiment | undefined => this.#room.recorder.state.experiments.findLast((e) => e.id === id);
    const open = (e: Experiment | undefined): boolean => e?.state === 'queued' || e?.state === 'evaluating';
    if (waitMs === 0 || !open(look())) return Promise.resolve(look());
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        listening[Symbol.dispose]();
        resolve(look());
      };
      const timer = setTimeout(done, waitMs);
      const listening = this.#room.recorder.subscribe(() => {
        if (!open(look())) done();
      });
    });
  }

  #receipt(experiment: Experiment): Receipt {
    const { state } = this.#room.recorder;
    const { id } = experiment;
    const blind = state.terms.feedback === 'blind';
    const remaining = this.#remaining(state.options[experiment.option - 1]);
    switch (experiment.state) {
      case 'queued':
      case 'evaluating':
        return { id, outcome: 'pending', place: undecided(state).findIndex((e) => e.id === id) + 1, remaining };
      case 'accepted': {
        if (blind) return { id, outcome: 'accepted', remaining };
        const earlier = state.archive.slice(
          0,
          state.archive.findIndex((candidate) => candidate.id === id),
        );
        const best = record(earlier, state.terms.metric);
        const improved = best === undefined || isBetter(state.terms.metric, experiment.score, best.score);
        return { id, outcome: 'accepted', score: experiment.score, improved, remaining };
      }
      case 'rejected':
        return {
          id,
          outcome: 'rejected',
          code: experiment.code,
          reason: blind ? blindReceiptText(experiment.code) : experiment.reason,
          remaining,
        };
    }
  }

  /** What is left, as far as the task allows an agent to know. */
  #remaining(option: Option | undefined): Remaining {
    const { state } = this.#room.recorder;
    const given = this.#room.recorder.given();
    const timeMs = Math.max(0, Math.round(explorationEndsAt(state, given) - given.active));
    const experiments = state.budgets.experiments === null ? null : Math.max(0, experimentsLeft(state));
    const cap = capOf(state);
    const told = state.terms.policy.tellCap && option && Number.isFinite(cap);
    return { timeMs, experiments, ...(told ? { inSession: Math.max(0, cap - option.accepted.length) } : {}) };
  }

  /** The session has printed a receipt: when it was the last one it can get, the option may be ended. */
  receiptSeen(token: string, id: string): void {
    const { recorder } = this.#room;
    const { option } = this.#caller(token);
    if (!option || option.state !== 'open' || option.capSeenAt !== null) return;
    const full = option.accepted.length >= capOf(recorder.state) || experimentsLeft(recorder.state) <= 0;
    if (full && option.accepted.at(-1) === id)
      recorder.append([{ type: 'option.capSeen', data: { option: option.number } }]);
  }

  /** Runs the task's validator on the candidate's files as they are now; one at a time, never counted. */
  async validate(token: string): Promise<ValidateReply> {
    const { contract, recorder } = this.#room;
    const { caller, option } = this.#caller(token);
    if (contract.validate === null) return { refused: { code: 'no_validator', reason: 'this task has no validator' } };
    if (caller.kind !== 'option' || !option)
      return {
        refused: admit(recorder.state, caller, recorder.given()) ?? {
          code: 'not_your_turn',
          reason: 'this session is over',
        },
      };
    const turn = this.#validation.then(async (): Promise<ValidateReply> => {
      const captured = await this.#capture();
      if (!captured.ok) return { outcome: 'invalid', text: this.#refusalOf(captured.refusal).reason };
      const validation = await validateSnapshot(this.#room, captured.value.id);
      const outcome = validation.kind === 'valid' ? 'valid' : 'invalid';
      recorder.append([
        {
          type: 'validation.ended',
          data: { option: option.number, contentHash: captured.value.contentHash, outcome: validation.kind },
        },
      ]);
      return {
        outcome,
        text:
          validation.kind === 'valid' ? 'valid' : validation.kind === 'invalid' ? validation.reason : validation.detail,
      };
    });
    this.#validation = turn.catch(() => undefined);
    return await turn;
  }

  status(token: string): StatusReply {
    const { recorder, contract } = this.#room;
    const { state } = recorder;
    const { caller, option } = this.#caller(token);
    const given = recorder.given();
    const common = {
      feedback: state.terms.feedback,
      paused: state.pause !== null,
      standing: standing(state.archive)?.id ?? null,
    };
    if (caller.kind === 'review' && state.review) {
      const timeMs = Math.max(0, Math.round(reviewerEndsAt(state, given) - given.active));
      const agent = contract.agents[state.review.reviewer].name;
      return {
        ...common,
        role: 'review',
        agent,
        option: null,
        accepted: 0,
        remaining: { timeMs, experiments: null },
        lastSafeSubmitMs: 0,
        pending: [],
      };
    }
    if (!option) return { refused: { code: 'not_your_turn', reason: 'this session is over' } };
    const remaining = this.#remaining(option);
    const longest = Math.max(
      0,
      ...state.experiments.flatMap((e) => e.evaluations.map((run) => (run.endedAt ?? run.startedAt) - run.startedAt)),
    );
    const pending = undecided(state).filter((e) => e.option === option.number);
    const lastSafeSubmitMs = Math.max(0, Math.round(remaining.timeMs - longest * (1 + undecided(state).length)));
    return {
      ...common,
      role: 'explore',
      agent: contract.agents[option.agent].name,
      option: option.number,
      accepted: option.accepted.length,
      remaining,
      lastSafeSubmitMs,
      pending: pending.map(({ id }) => id),
    };
  }

  archive(token: string): ArchiveReply {
    const { state } = this.#room.recorder;
    const { caller, option } = this.#caller(token);
    if (caller.kind === 'unknown') return { refused: { code: 'not_your_turn', reason: 'this session is over' } };
    return archiveFor(state, option?.agent ?? state.review?.reviewer ?? null);
  }

  /** A file of a candidate, of the files at the start, or of the pristine protected files. */
  async file(request: FileRequest): Promise<FileReply> {
    const { state } = this.#room.recorder;
    const unknown = (reason: string): FileReply => ({ refused: { code: 'unknown', reason } });
    if (this.#caller(request.token).caller.kind === 'unknown')
      return { refused: { code: 'not_your_turn', reason: 'this session is over' } };
    if (request.id === 'protected') return await this.#protectedFile(request.path);
    const snapshot =
      request.id === 'initial'
        ? state.initial
        : state.archive.find((candidate) => candidate.id === request.id)?.snapshot;
    if (!snapshot) return unknown(`there is no candidate ${request.id}; hma archive lists them`);
    const entries = await this.#room.snapshots.entries(snapshot);
    if (request.path === undefined) return { entries: entries.map(({ path, kind, bytes }) => ({ path, kind, bytes })) };
    const entry = entries.find(({ path }) => path === request.path);
    if (!entry) return unknown(`${request.id} has no file ${request.path}`);
    if (entry.bytes > largestFile)
      return {
        refused: {
          code: 'too_large',
          reason: `${entry.path} has ${entry.bytes} bytes, more than the ${largestFile} that can be handed over`,
        },
      };
    return {
      path: entry.path,
      kind: entry.kind,
      base64: (await this.#room.snapshots.read(snapshot, entry.path)).toString('base64'),
    };
  }

  async #protectedFile(path: string | undefined): Promise<FileReply> {
    const { protectedFiles } = this.#room;
    const copies = protectedFiles.files.flatMap((file) =>
      file.kind === 'file' && file.path !== 'hma.yaml' ? [file] : [],
    );
    if (path === undefined)
      return {
        entries: copies.map((file) => ({
          path: file.path,
          kind: 'file',
          bytes: lstatSync(pristineFile(protectedFiles, file)).size,
        })),
      };
    const file = copies.find((copy) => copy.path === path);
    if (!file) return { refused: { code: 'unknown', reason: `no copy of a protected file ${path} is kept` } };
    return { path, kind: 'file', base64: (await readFile(pristineFile(protectedFiles, file))).toString('base64') };
  }

  /** The reviewer's nomination: checked, written as the ballot, recorded. An invalid one changes nothing. */
  nominate(request: NominateRequest): NominateReply {
    const { recorder, files } = this.#room;
    const { caller } = this.#caller(request.token);
    const { review } = recorder.state;
    if (caller.kind !== 'review' || review?.state !== 'open')
      return {
        refused: { code: 'not_your_turn', reason: 'only the reviewer nominates, while the final review is open' },
      };
    const fact = decideBallot(recorder.state, request);
    // The same word again, as after a lost answer, is no other ballot.
    if (
      fact.data.valid &&
      review.nomination?.candidate === fact.data.candidate &&
      review.nomination.reason === fact.data.reason
    )
      return { nominated: fact.data.candidate };
    if (fact.data.valid) {
      writeFileAtomic(
        new SessionFolder(files.sessions, { kind: 'review' }).ballot,
        `${JSON.stringify({ candidate: fact.data.candidate, reason: fact.data.reason }, null, 2)}\n`,
        0o666,
      );
      crashAt('ballot.written');
    }
    recorder.append([fact]);
    crashAt('reply.nominate');
    return fact.data.valid
      ? { nominated: fact.data.candidate }
      : { refused: { code: 'invalid', reason: fact.data.why } };
  }
}
