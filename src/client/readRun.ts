import { oneLine } from '../base/oneLine.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { readLedger } from '../ledger/readLedger.ts';
import { sayProblem, type LedgerEvent, type LedgerProblem } from '../ledger/port.ts';
import { activeAt } from '../run/activeClock.ts';
import { replayRun } from '../run/evolve.ts';
import type { RunState } from '../run/model.ts';
import type { Given } from '../base/fact.ts';
import { attach, ControllerError } from './connection.ts';
import type { Clock } from '../base/clock.ts';
import { failure, type Failure } from './failure.ts';
import type { RunPlace } from './lookup.ts';

/** A run as it stands. */
export interface RunView {
  readonly place: RunPlace;
  readonly state: RunState;
  /** A controller answered; else the ledger was read. */
  readonly live: boolean;
  /** Active runtime at the last event, ms: where a run without a controller stands. */
  readonly lastActive: number;
  /** What is wrong with the ledger, where it was read. */
  readonly problems: readonly LedgerProblem[];
}

/** Reads a run's ledger without its controller. */
export function readOffline(
  place: RunPlace,
): Result<
  { readonly state: RunState; readonly events: readonly LedgerEvent[]; readonly problems: readonly LedgerProblem[] },
  Failure
> {
  const { events, problems } = readLedger(place.folder);
  const state = replayRun(events);
  if (state) return ok({ state, events, problems: problems.filter((problem) => problem.fatal) });
  const damage = problems.filter((problem) => problem.fatal);
  return refused(
    failure(
      'failed',
      'no_ledger',
      damage.length === 0
        ? {
            what: `the ledger in ${place.folder} holds no events`,
            fix: 'A run that has just been started has none for a moment. Else see controller.log in that folder.',
          }
        : {
            what: `the ledger can't be read: ${oneLine(damage.map(sayProblem).join('; '), 600)}`,
            fix: damage.some(({ reason }) => reason === 'newer_version')
              ? 'Use the version of HMA that made it, or a newer one.'
              : `Put the file back as it was, or remove the run: hma remove ${place.run}`,
          },
    ),
  );
}

/** A run's state, from its controller where one answers, else from its ledger. */
export async function viewRun(place: RunPlace): Promise<Result<RunView, Failure>> {
  // one that is stopped, or of another version, doesn't keep anybody from looking
  const connection = await attach(place.folder).catch((error: unknown) => {
    if (error instanceof ControllerError) return null;
    throw error;
  });
  if (connection?.state) {
    const { state } = connection;
    connection.close();
    return ok({ place, state, live: true, lastActive: state.clock.active, problems: [] });
  }
  connection?.close();
  const read = readOffline(place);
  return read.ok
    ? ok({
        place,
        state: read.value.state,
        live: false,
        lastActive: read.value.events.at(-1)?.active ?? 0,
        problems: read.value.problems,
      })
    : read;
}

/** Time as a run's decisions know it; a run without a controller stands where its ledger ends. */
export function givenOf(
  { clock }: { readonly clock: Clock },
  { state, live, lastActive }: Pick<RunView, 'state' | 'live' | 'lastActive'>,
): Given {
  const now = clock.now();
  return { ...now, active: live ? activeAt(state.clock, now) : lastActive };
}
