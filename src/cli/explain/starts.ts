import type { Notification } from '../../controller/notifier.ts';
import type { StartRefusal } from '../../controller/launch.ts';
import { exitCodes, exitMeanings, type ExitName } from '../exitCodes.ts';
import { nothing, type Explanation } from './explanation.ts';

/** Why a run was not started, or not taken up again. */
export const starts: Readonly<Record<StartRefusal['reason'], Explanation>> = {
  held: {
    means:
      'Another run owns the workspace, or its owner cannot be seen from here: another host, or a container with a process namespace of its own.',
    you: 'Wait for it or `hma stop` it. Only if you know that it is gone: `hma resume --take-over`.',
  },
  unwritable: {
    means: "The state folder can't be written.",
    you: 'Make room or correct its rights; or another place: `HMA_HOME`, or `state` in `hma.yaml`.',
  },
  isolation: {
    means: 'The tier that `isolation` asks for does not work here. It is never replaced by a weaker one.',
    you: 'See the guide, "Isolation and containers".',
  },
  bypass: {
    means: 'An agent has `permissions: bypass`, nothing isolates it, and nobody has said yes to that.',
    you: 'Use a tier; or say it: `hma run --accept-bypass`.',
  },
  broken_ledger: {
    means: 'The ledger is damaged in its middle. What is before the break can be read; nothing more is written.',
    you: '`hma export` keeps what is there, candidates too. Start another run.',
  },
  contract: {
    means: 'The frozen contract of the run cannot be read: damaged, or of a newer hma.',
    you: 'Use the newer hma; or start another run.',
  },
  workspace: {
    means: 'The workspace, or something that the run needs of it, is not there.',
    you: 'Mount or put it back.',
  },
  state_in_workspace: {
    means:
      'The state folder lies in the workspace, where agents could change it; or the workspace in the state folder.',
    you: '`HMA_HOME`, or `state` in `hma.yaml`: a folder elsewhere.',
  },
  git: { means: 'git, with which candidates are kept, was not found on PATH.', you: 'Install git 2.36 or newer.' },
  from_not_over: {
    means: 'The run that `hma run --from` names is not over.',
    you: '`hma resume` it and wait, or `hma stop` it.',
  },
  from_elsewhere: {
    means: 'The run that `hma run --from` names worked in another folder.',
    you: 'Go to that folder, or name a run of this one: `hma list`.',
  },
  from_imported: {
    means:
      'The run that `hma run --from` names came by `hma import`; the folder that its agents worked in is not here.',
    you: '`hma apply` one of its candidates, then start afresh.',
  },
  from_broken: {
    means: 'The ledger, the contract or a candidate of the run that `hma run --from` names is damaged.',
    you: 'Restore it from a backup, or start afresh.',
  },
  from_differs: {
    means:
      'This task measures otherwise than the run that `hma run --from` names, so their scores can not be compared.',
    you: 'Put back what the message names, or start afresh.',
  },
  failed: {
    means: 'The controller could not start; its last words are in the message.',
    you: '`controller.log` in the run folder has all of it.',
  },
  timeout: {
    means: 'The controller did not answer in five minutes, such as while very large protected files are stored.',
    you: 'Look with `hma status`: it may have come up meanwhile.',
  },
};

/** What `notify` sends: JSON with `kind`, `run`, `workspace`, `text` and `wall` (Unix ms). */
export const notifications: Readonly<Record<Notification['kind'], Explanation>> = {
  started: { means: 'The run has started; it also shows that notifications arrive.', you: nothing },
  paused: {
    means: 'The run has paused and goes on by itself: a usage limit with a known reset, or the disk.',
    you: 'Free space, if it is the disk.',
  },
  needs_person: {
    means: 'The run stands until somebody does something; `text` has the reason and what to do.',
    you: 'See "Why a run is paused".',
  },
  review_ready: {
    means: 'The final review is over; `text` has its outcome.',
    you: '`hma status`; `hma select` if you choose otherwise.',
  },
  finished: { means: 'The run is over; `text` names the final candidate.', you: '`hma apply`.' },
  keeper_gave_up: {
    means: 'The controller died five times in a row without getting anywhere.',
    you: 'Read `controller.log` in the run folder, mend the cause, `hma resume`.',
  },
};

const afterExit: Readonly<Record<ExitName, string>> = {
  ok: nothing,
  failed: 'The message names what failed.',
  refused: 'The message says why, and what is possible instead.',
  notFound: '`hma list --all` shows all runs.',
  contract: '`hma check`.',
  held: 'Wait, or `hma resume --take-over` if you know that the owner is gone.',
  notRunning: '`hma resume`.',
  noCandidate: '`hma log` shows what was tried.',
  detached: '`hma watch` comes back.',
  usage: 'Add `--help` to the command.',
  bug: 'Runs are not affected. Report what `HMA_DEBUG=1` shows.',
  interrupted: 'Write the same command again when you like.',
};

/** Exit codes of a person's commands. */
export const exits: Readonly<Record<string, Explanation>> = Object.fromEntries(
  (Object.keys(exitCodes) as ExitName[]).map((name) => [
    String(exitCodes[name]),
    { means: `${exitMeanings[name].replace(/^(?!hma)./u, (letter) => letter.toUpperCase())}.`, you: afterExit[name] },
  ]),
);
