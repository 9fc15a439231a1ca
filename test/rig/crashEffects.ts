import type { CrashPoint } from '../../src/controller/crashPoints.ts';

/** One kind of effect that a controller has on the world, and the crash points between which it lies: one of them is its neighbour. */
export interface Effect {
  readonly what: string;
  readonly call: RegExp;
  readonly between: readonly CrashPoint[];
}

const lease: readonly CrashPoint[] = [
  'lease.stateClaimed',
  'lease.workspaceClaimed',
  'lease.published',
  'lease.released',
];

/**
 * Every rename, spawn, signal and answer of a controller; appends are `ledger.*`, for each type of event. What does not match here
 * fails the test: whoever adds an effect says between which points it can be killed. The controller's own start comes before all.
 * Calls are as strace writes them, with `ROOT` for the test's folder and `RUN` for the run's.
 */
export const controllerEffects: readonly Effect[] = [
  {
    what: 'takes and gives back the lease',
    call: /^(link|rename)\("(RUN|ROOT\/workspace\/\.hma)\/(owner-\d+\.claim|owner\.json)\./,
    between: lease,
  },
  { what: 'keeps .hma out of git', call: /^rename\("ROOT\/workspace\/\.hma\/\.gitignore\./, between: lease },
  {
    what: 'begins a ledger segment',
    call: /^link\("RUN\/ledger-\d+\.jsonl\./,
    between: ['ledger.tornSetAside', 'ledger.segmentCreated'],
  },
  {
    what: 'opens the snapshots',
    call: /^rename\("RUN\/snapshots\/repo\.git\/(config|HEAD)\.new/,
    between: ['ledger.segmentCreated', 'snapshot.begin'],
  },
  {
    what: 'stores protected files',
    call: /^rename\("RUN\/protected\/|^execve\("[^"]*", \["sync", "-f"/,
    between: ['ledger.segmentCreated', 'snapshot.begin'],
  },
  {
    what: 'probes the tier',
    call: /^execve\("[^"]*", \["[^"]*(sh|setpriv|bwrap|perl)"|^kill\(-?\d+, SIG(STOP|KILL)\)/,
    between: ['ledger.segmentCreated', 'snapshot.begin'],
  },
  {
    what: 'stores the objects of a snapshot',
    call: /^execve\("[^"]*", \["git", "(fast-import|check-ignore|repack)"|^rename\("RUN\/snapshots\/cache\//,
    between: ['snapshot.begin', 'snapshot.objects', 'snapshot.cache', 'snapshot.ref'],
  },
  {
    what: 'sets the ref of a snapshot',
    call: /^rename\("RUN\/snapshots\/repo\.git\/refs\/hma\//,
    between: ['snapshot.cache', 'snapshot.ref'],
  },
  {
    what: 'reads a snapshot',
    call: /^execve\("[^"]*", \["git", "cat-file"|^kill\(\d+, SIGKILL\)/,
    between: ['snapshot.restore.begin', 'snapshot.restore.written', 'snapshot.begin', 'snapshot.ref'],
  },
  {
    what: 'tells where it listens',
    call: /^rename\("RUN\/endpoint\.json\./,
    between: ['sockets.open', 'endpoint.written'],
  },
  { what: 'answers whoever started it', call: /^rename\("RUN\/boot-?[0-9a-f]*\.json\./, between: ['endpoint.written'] },
  {
    what: 'lists the archive',
    call: /^rename\("ROOT\/workspace\/\.hma\/archive\.(json|md)\./,
    between: ['endpoint.written', 'listing.written'],
  },
  { what: 'keeps a ballast', call: /^rename\("RUN\/ballast\.tmp"/, between: ['listing.written', 'ledger.beforeWrite'] },
  {
    what: 'counts what lies on the disks',
    call: /^execve\("[^"]*", \["du", "-skx"/,
    between: ['listing.written', 'ledger.beforeWrite'],
  },
  {
    what: 'makes a token',
    call: /^rename\("RUN\/sessions\/[^/]+\/token\./,
    between: ['ledger.confirmed', 'listing.written', 'ledger.beforeWrite'],
  },
  {
    what: 'writes a prompt',
    call: /^rename\("RUN\/sessions\/[^/]+\/shown\/prompt\.md\./,
    between: ['ledger.confirmed', 'ledger.beforeWrite'],
  },
  {
    what: 'lays the review out',
    call: /^rename\("RUN\/sessions\/review\/scratch\/candidates\.json\./,
    between: ['ledger.confirmed', 'snapshot.restore.begin'],
  },
  {
    what: 'writes the ballot',
    call: /^rename\("RUN\/sessions\/review\/scratch\/ballot\.json\./,
    between: ['ballot.written'],
  },
  {
    what: 'starts an attempt',
    call: /^(rename|execve)\("[^"]*".*RUN\/sessions\/[^/]+\/attempt-\d+/,
    between: ['attempt.beforeSpawn', 'attempt.spawned'],
  },
  {
    what: 'starts a grading',
    call: /^(rename|execve)\("[^"]*".*RUN\/evaluations\/grade-/,
    between: ['grading.beforeSpawn', 'grading.spawned'],
  },
  {
    what: 'has a runner stand by, which owns nothing until it is told, after the intent',
    call: /^execve\("[^"]*", \[.*"[^"]*\/runner\.js", "--standby"\]/,
    between: ['snapshot.begin', 'snapshot.objects', 'ledger.confirmed', 'ledger.beforeWrite'],
  },
  {
    what: 'starts an evaluation',
    call: /^(rename|execve)\("[^"]*".*RUN\/evaluations\/e\d+-/,
    between: ['evaluation.prepared', 'evaluation.beforeSpawn', 'evaluation.spawned'],
  },
  {
    what: 'ends a session',
    call: /^kill\(-?\d+, SIG(TERM|CONT|STOP|KILL)\)/,
    between: ['session.beforeSignal', 'session.signalled'],
  },
];
