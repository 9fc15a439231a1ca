import type { Closure } from '../../options/model.ts';
import type { ExplorationEnd, PauseReason } from '../../run/model.ts';
import type { NoticeCode } from '../../run/notices.ts';
import { nothing, type Explanation } from './explanation.ts';

/** Why a run is paused. */
export const pauses: Readonly<Record<PauseReason, Explanation>> = {
  requested: {
    means: 'A person paused the run, at once or (`hma pause --after`) at a handoff.',
    you: '`hma resume` when it is to go on.',
  },
  disk_low: {
    means:
      'A file system that the run needs has less free than `limits.diskFloor`, or next to no inodes; or a write met a full disk or a used-up quota. The detail says which one, what is on it, and what grew.',
    did: 'Paused. Where a write had met it, it freed its ballast first, 32 MB kept for this, so that what was under way and the pause itself could be written.',
    you: 'Free some space (`hma gc --all`, `hma remove RUN`, caches in the workspace). The run goes on by itself at 1.25 times the floor, or when it can write again.',
  },
  agent_failed: {
    means:
      'An agent could not go on, and neither another attempt nor the other agent can help. The detail names the agent and why.',
    did: 'Tried as often as `failures` says, and the other agent where that was allowed.',
    you: 'Look the reason up under "Why an attempt failed", mend it (`hma login NAME`, a key, the model), then `hma resume`.',
  },
  usage_limit: {
    means: "The agents' usage limits are reached, or one is and `failures.usageLimit` says `pause`.",
    did: 'Where a time of reset was told, the run goes on by itself then; the clock stands until it does.',
    you: 'Nothing where a time is shown. Without one: `hma resume` when the limit is over.',
  },
  agents_end_at_once: {
    means:
      'Four sessions in a row ended by themselves within 10 s, without a submission. Going on would only burn tokens.',
    did: 'Waited longer before each of them, then paused.',
    you: 'See what they said: `hma log --session 3`. Usually a login, a flag or the prompt. Then `hma resume`.',
  },
  evaluator_broken: {
    means:
      'The evaluator gave no result three times in a row, not on earlier files either: it is broken, not the candidates.',
    did: 'Rejected these experiments as `evaluator_error`, which counts for nobody, and paused.',
    you: 'Read its output (`hma show ID` names the file). What it needs from outside (data, packages, a service) you mend in place, then `hma resume`. Its scripts in the workspace are protected and frozen since the start: where one of them is wrong, `hma stop`, mend it, and start another run.',
  },
  survivors: {
    means: "Processes of a session can't be ended, and the next one must not start beside them.",
    did: 'Asked them, then killed them by the strongest means that the isolation tier has, and listed what is left.',
    you: 'End them by the process ids in the detail (one that hangs in the kernel needs a reboot), then `hma resume`.',
  },
  workspace_gone: {
    means: "The workspace's folder is not there: unmounted, moved or deleted.",
    you: 'Mount or put it back at the same path, then `hma resume`. Candidates are kept in the state folder, not there.',
  },
  start_failed: {
    means:
      'Something that hma itself has to do failed three times: preparing a session, starting a program, cleaning up. The detail names the step and the error.',
    you: 'Mend what the error names (rights, a full or read-only file system, a program that is gone), then `hma resume`. `controller.log` in the run folder has more.',
  },
  state_unwritable: {
    means: "A submission could not be kept: the run's snapshot store can't be written.",
    did: 'Told the agent that it may submit again later, and paused.',
    you: 'Look at the state folder (`$HMA_HOME`): mounted, writable, healthy? Then `hma resume`.',
  },
};

/** What a run tells beside its sessions. */
export const notices: Readonly<Record<NoticeCode, Explanation>> = {
  asleep: {
    means: 'The machine slept for more than 10 s.',
    did: 'Took the time out of the active runtime: budgets are as they were.',
    you: 'Nothing; for the next night switch off suspend.',
  },
  bypass: {
    means:
      "An agent runs with `permissions: bypass` without isolation: it acts without asking, and nothing holds it but the user's own rights.",
    did: 'Started only after a yes to just that, which is recorded here.',
    you: 'Nothing, if that was meant. Else `hma stop`, and use an isolation tier.',
  },
  clock_set: {
    means: "The machine's time of day was set by more than a minute.",
    did: 'Went on: active runtime is measured by a clock that does not jump. Only `budgets.until` is a time of day.',
    you: nothing,
  },
  disk_forecast: {
    means:
      "At the pace of the last hours a disk reaches its floor before the run's planned end; the text says when, and what grows most.",
    did: 'Told you, once. The run will pause when the floor is reached.',
    you: 'Free some space (`hma gc --all`, `hma remove RUN`), or look after what grows: `hma status` shows it by cause.',
  },
  disk_forecast_over: {
    means: 'An earlier `disk_forecast` holds no more.',
    did: 'Took it back.',
    you: nothing,
  },
  login_held: {
    means: 'A session waits for its login: a session of another run has it, and one at a time may renew it.',
    did: 'Waits, and asks every few seconds. The clock runs.',
    you: 'Nothing, or use a key in a variable, which has no such limit, or run the two one after the other.',
  },
  model_differs: {
    means: 'The harness reports another model than `model` asks for.',
    did: 'Went on, and says so once for each attempt and model.',
    you: "Look at the harness's settings and the account's plan: some plans answer with a smaller model at a limit.",
  },
  notify_failed: {
    means: "The first notification did not arrive, so the night's may not either.",
    you: 'Correct `notify` in `hma.yaml` for the next run; `hma notify --test` tries it.',
  },
  permission_prompt: {
    means: 'The session has asked a question and waits for an answer that nobody gives.',
    did: 'Ends it as stalled after another minute; then another attempt.',
    you: 'See `permissions` in `hma.yaml`. With an isolation tier agents act without asking.',
  },
  price_unknown: {
    means: '`budgets.cost` cannot count a model, because it has no price.',
    did: 'Went on: the other models count.',
    you: 'Add a price to `prices.json` (`hma prices` names the file), or bound the run by `hma budget --tokens 5M`.',
  },
  prices_broken: {
    means: 'A price file of your own has an error, and nothing in it counts.',
    you: 'Mend it: `hma prices` says where. It is read again while the run goes on.',
  },
  protected_not_restored: {
    means:
      'A protected file was changed and could not be put back, such as in a folder that may not be written any more.',
    did: 'Evaluations use pristine copies all the same; submissions are refused as `tampered` while the file differs.',
    you: 'Put the file back: its copy is in the run folder, `protected/`, and agents get it by `hma archive get protected PATH`.',
  },
  responses_unread: {
    means: "The last responses of a session could not be read in time from the harness's files.",
    did: 'Went on. Tokens and cost of that session are too low.',
    you: nothing,
  },
  tampered: {
    means: 'A submission was refused because protected files were changed.',
    did: 'The agent was told which, and how to get the originals; they are put back at the end of the option.',
    you: 'Nothing. If it happens often, say in the objective what must stay as it is.',
  },
};

/** Why an option ended. */
export const closures: Readonly<Record<Closure, Explanation>> = {
  natural: { means: 'The agent ended its session by itself.', you: nothing },
  cap: { means: 'The option had as many accepted experiments as `policy.cap` allows.', you: nothing },
  deadline: { means: "Exploration's time is used up.", you: nothing },
  budget: {
    means: 'Experiments, tokens or money are used up (`budgets`).',
    you: '`hma budget` raises them while the run explores.',
  },
  handoff: { means: 'A person handed over (`hma handoff`).', you: nothing },
  stopped: { means: 'A person stopped the run.', you: nothing },
  failed: {
    means: 'No attempt is left: see the failure of its last attempt.',
    you: '`hma log --session 3` shows its output.',
  },
  stalled: {
    means: 'Its last attempt did nothing for `stall` (30 min) and was ended.',
    you: '`hma log --session 3` shows where it stood.',
  },
};

/** Why exploration ended. */
export const ends: Readonly<Record<ExplorationEnd, Explanation>> = {
  deadline: { means: '"its time is used up": `budgets.total` less the review, or `budgets.until`.', you: nothing },
  budget: { means: '"the experiments are used up", or tokens or money.', you: nothing },
  barren: {
    means: '`stopAfterBarren` sessions in a row had no accepted experiment.',
    you: 'See why: `hma log`. Remove the key to go on regardless.',
  },
  requested: { means: 'A person asked for the review (`hma review`).', you: nothing },
  stopped: {
    means: 'A person stopped the run: no review, the fallback is selected.',
    you: '`hma select` if you choose otherwise.',
  },
};
