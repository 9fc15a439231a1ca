import { ok, refused, type Result } from '../base/result.ts';
import type { RunFact } from '../run/events.ts';
import { carryOver } from '../run/goOn.ts';
import type { EarlierRun } from '../run/model.ts';
import { runFiles } from '../ledger/places.ts';
import type { Snapshots } from '../snapshots/port.ts';
import type { Contract } from '../task/model.ts';
import type { StartRefusal } from './launch.ts';
import { lookBack } from './lookBack.ts';

/**
 * Takes over what a run goes on with from an earlier one, before its first event: looks back under the lease, then copies the candidates'
 * snapshots into the run's own store. Killed at any moment it is done again and ends the same; afterwards the earlier run is not
 * needed any more. Answers what the first batch of the ledger says of it.
 */
export async function carry(request: {
  /** The earlier run's folder. */
  readonly folder: string;
  readonly workspace: string;
  readonly contract: Contract;
  readonly statedIn: readonly string[];
  readonly snapshots: Snapshots;
}): Promise<Result<{ readonly from: EarlierRun; readonly facts: readonly RunFact[] }, StartRefusal>> {
  const looked = await lookBack(request);
  if (!looked.ok) return looked;
  const { state, last } = looked.value;
  const carried = carryOver(state, { last, agents: request.contract.agents });
  const wanted = state.archive.map(({ id, snapshot }) => ({ id: snapshot, ref: `carried/${id}` }));
  const { initial } = carried.from;
  const copied = await request.snapshots.adopt(runFiles(request.folder).snapshots, [
    ...wanted,
    ...(initial === null ? [] : [{ id: initial, ref: 'carried/beginning' }]),
  ]);
  if (copied.ok) return ok(carried);
  const { reason, detail } = copied.refusal;
  return refused(
    reason === 'disk_full'
      ? { reason: 'unwritable', text: detail, fix: 'make room, then start again' }
      : {
          reason: 'from_broken',
          text: `the candidates of run ${state.run} could not be copied: ${detail}`,
          fix: 'restore its folder from a backup, or begin afresh: hma run',
        },
  );
}
