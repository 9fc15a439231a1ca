/** Exit codes of the person's commands; documented (docs/json.md) and stable. The commands inside a session have their own (`sessionExit`). */
export const exitCodes = {
  ok: 0,
  failed: 1,
  refused: 2,
  notFound: 3,
  contract: 4,
  held: 5,
  notRunning: 6,
  noCandidate: 7,
  detached: 8,
  usage: 64,
  bug: 70,
  interrupted: 130,
} as const;

/** A code by its name. */
export type ExitName = keyof typeof exitCodes;

/** What each exit code says, for the documentation and `hma --help`. */
export const exitMeanings: Readonly<Record<ExitName, string>> = {
  ok: 'done; of `hma run` and `hma watch`: the run is over and has a final candidate',
  failed: 'something on this machine failed: a file, a socket, a program',
  refused: 'the run refuses this now, such as a pause after its end, or a selection of an unknown candidate',
  notFound: 'no such run, session or workspace',
  contract: 'hma.yaml has errors',
  held: 'another run owns the workspace, or its owner cannot be seen from here',
  notRunning: 'the run has no controller and is not over; see hma resume',
  noCandidate: 'the run is over without any candidate',
  detached: 'left while the run goes on',
  usage: 'wrong usage of the command line',
  bug: 'a bug in hma; set HMA_DEBUG=1 to see where',
  interrupted: 'ended by Ctrl-C; its temporary files are gone',
};
