import type { CheckCode } from '../../client/checkCodes.ts';
import type { Explanation } from './explanation.ts';

/** What `hma check` finds. It changes nothing; the line below an entry says what to do here. */
export const checks: Readonly<Record<CheckCode, Explanation>> = {
  contract_errors: {
    means: '`hma.yaml` has errors: no run starts.',
    you: 'Each is above the list, with its place and its fix; their codes are under "The contract".',
  },
  contract_warnings: {
    means: '`hma.yaml` is complete, with something to know.',
    you: 'Read the warnings above the list.',
  },
  evaluator_not_found: { means: "The evaluator's program is not on PATH.", you: 'Install it, or correct `evaluate`.' },
  evaluator_not_started: {
    means: 'The evaluator could not be started on the present files.',
    you: 'The detail says why: a file that is missing in the checkout, or its isolation.',
  },
  evaluator_not_tried: {
    means: 'No file of `candidate` exists yet, so there was nothing to evaluate.',
    you: 'Nothing, if the agents are to make it. Better give them a baseline that works.',
  },
  candidate_refused: {
    means:
      'The files as they are would be refused if they were submitted: too large, a socket or device among them, unreadable.',
    you: 'Correct the files, or `candidate` and `limits` in `hma.yaml`.',
  },
  evaluator_says_no: {
    means: 'The evaluator works, and calls the present files invalid or incorrect.',
    you: 'Nothing, if that is so. Better begin with files that it takes.',
  },
  evaluator_no_result: {
    means: 'The evaluator ended without a result that can be read.',
    you: 'It must write `{"score": 0.87}` into the file that `$HMA_RESULT` names. The detail has its last words.',
  },
  evaluator_not_finite: {
    means: "The evaluator's score is NaN or infinite.",
    you: 'A score is a finite number; write `{"invalid": "reason"}` where there is none.',
  },
  evaluator_too_slow: {
    means: 'The evaluator was not done within `evaluate.timeout`.',
    you: 'Raise it, or evaluate less.',
  },
  evaluations_do_not_fit: {
    means: 'One evaluation takes longer than the whole exploration.',
    you: 'Raise `budgets.total`, or evaluate less.',
  },
  evaluations_take_long: {
    means:
      'The experiments that are asked for would take more than half of the exploration for their evaluations alone.',
    you: 'Raise `budgets.total`, ask for fewer experiments, or evaluate less.',
  },
  agent_cannot_start: {
    means: 'An agent has no command, or its program was not found.',
    you: 'Correct `agents` in `hma.yaml`, or install it.',
  },
  agent_not_installed: { means: "The agent's CLI is not on PATH.", you: 'Install it as the line below says.' },
  agent_not_signed_in: {
    means: 'There is neither a key in its variable nor a login of hma.',
    you: '`hma login NAME`, or set the variable where `hma run` is started. Your own login in HOME does not count: see docs/failures.md.',
  },
  agent_login_held: { means: "Another run's session has the login now.", you: 'Wait, or use a key.' },
  agent_untested: {
    means: 'The CLI has a version that this hma was not tested with.',
    you: 'Probably nothing; a tested version is the safe choice.',
  },
  agent_silent: {
    means: 'The CLI is there, but did not say its version within 20 s.',
    you: 'Run it by hand with `--version`: what it waits for there, it would wait for in a session.',
  },
  isolation_unavailable: {
    means: 'The tier that `isolation` asks for does not work here, or none does.',
    you: 'See the guide, "Isolation and containers".',
  },
  isolation_none: {
    means: 'Nothing is isolated: agents can read and change whatever you can.',
    you: 'Install bubblewrap, or run as root in a container of its own; see the guide.',
  },
  inside_not_started: {
    means: "No program could be started in a session's confinement.",
    you: 'The detail has its error. Another tier: `isolation` in `hma.yaml`.',
  },
  inside_not_looked_at: {
    means: 'The look from inside could not even be prepared.',
    you: 'Check that the state folder can be written (`HMA_HOME`).',
  },
  inside_open: {
    means: "From inside a session, the runs' state or a hidden path can be read, though the tier should close it.",
    you: 'Use another tier, and report it: this is a bug.',
  },
  inside_homes_open: {
    means: 'In tier *separate uid*, private files of HOMEs are open to everybody, so to sessions too.',
    you: '`chmod o-rwx` on them.',
  },
  inside_nothing_closed: {
    means: 'In tier *none* sessions can read what is named.',
    you: 'Use a tier, or keep graders and their data on another machine.',
  },
  workspace_not_writable: {
    means: "Inside, the workspace can't be written: agents could do nothing.",
    you: 'Check its owner and mode.',
  },
  hma_not_found: {
    means: 'Inside, `hma` is not found, by which agents submit.',
    you: 'The state folder may lie on a file system that is mounted noexec.',
  },
  login_shells_without_hma: {
    means: "A login shell inside resets PATH and doesn't find `hma`.",
    you: 'Usually nothing: agents use plain shells. Else look at what the profile does to PATH.',
  },
  network_closed: {
    means: 'Inside, no connection can be opened: agents reach no model.',
    you: "Check this machine's firewall and network namespaces.",
  },
  gpus_missing: {
    means: 'Inside, fewer GPUs can be seen than outside.',
    you: 'Check the device nodes of the container or machine.',
  },
  gpus_silent: {
    means: '`nvidia-smi` did not answer: the driver may hang.',
    you: 'Reload the driver or reboot, if the task uses a GPU.',
  },
  program_does_not_start: {
    means: "An agent's program runs outside, but not inside.",
    you: 'Name its folder under `isolation.readable`, or install it elsewhere.',
  },
  turn_failed: {
    means: 'With `hma check --endpoint URL`: an agent did no scripted turn.',
    you: 'The detail has its last words.',
  },
  disk_short: {
    means:
      'A file system that the run needs has less than twice `limits.diskFloor` free, hardly any inodes, or less than a night at the pace of the last run here takes.',
    you: 'Free some space (`hma gc --all`, `hma remove RUN`), or name another place: `state`.',
  },
  git_missing: { means: 'git was not found; candidates are kept with it.', you: 'Install git 2.36 or newer.' },
  git_silent: { means: '`git --version` failed or hung.', you: 'Run it by hand, and install a git that works.' },
  git_old: { means: 'git is older than 2.36.', you: 'Install a newer one.' },
  state_in_workspace: {
    means: 'The state folder and the workspace lie in one another.',
    you: 'Set `HMA_HOME` to a folder elsewhere, such as its default.',
  },
  mount_silent: {
    means: 'A mounted file system (NFS, sshfs) did not answer within 5 s. What looks there hangs.',
    you: 'Bring its server back, or unmount it (`umount -l`).',
  },
  look_too_slow: {
    means: 'One look was not done within 30 s.',
    you: 'Find out what hangs: the program by hand, or a disk (`df`).',
  },
  run_under_way: { means: 'A run works in this folder; one at a time can.', you: 'Wait, or `hma stop`.' },
  run_without_controller: {
    means: 'An earlier run is not over, but nothing looks after it.',
    you: '`hma resume RUN` to let it go on, or `hma stop`.',
  },
};
