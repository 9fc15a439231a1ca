import type { Clock } from '../base/clock.ts';
import type { ProtectedFiles } from '../evaluators/protectedFiles.ts';
import type { Tier } from '../machines/port.ts';
import type { Standby } from '../machines/standby.ts';
import type { Snapshots } from '../snapshots/store.ts';
import type { Contract } from '../task/model.ts';
import type { runFiles } from '../ledger/places.ts';
import type { Recorder } from './recorder.ts';
import type { Runtime } from './runtime.ts';

/** What everything inside one controller shares. */
export interface Room {
  readonly recorder: Recorder;
  readonly contract: Contract;
  readonly workspace: string;
  /** $HMA_HOME: agents' logins lie there. */
  readonly home: string;
  readonly folder: string;
  readonly files: ReturnType<typeof runFiles>;
  readonly clock: Clock;
  readonly snapshots: Snapshots;
  readonly protectedFiles: ProtectedFiles;
  readonly runtime: Runtime;
  /** The runner of the evaluation that is to be expected. */
  readonly standby: Standby;
  readonly isolation: Isolation;
  /** The controller's environment: only named variables of it reach programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly agentSocket: string;
  /** Paths that no session may see: the state folder, `hma.yaml`, the contract's hidden paths. */
  readonly hidden: readonly string[];
  /** One line into controller.log. */
  readonly log: (line: string) => void;
  /** Something happened outside: ask again what to do next. */
  readonly wake: () => void;
}

/** The tier in force, and for tier `uid` the users that sessions, the review (which must not write the workspace) and evaluations run as. */
export interface Isolation {
  readonly tier: Tier;
  readonly nested: 'refused' | 'possible';
  readonly sessionUid?: number;
  readonly reviewUid?: number;
  readonly evaluationUid?: number;
}
