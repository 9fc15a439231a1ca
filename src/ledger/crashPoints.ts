/** Every place in the ledger where the process may die and a test makes it die; in the order in which they are passed. */
export const ledgerCrashPoints = [
  'ledger.tornSetAside',
  'ledger.segmentCreated',
  'ledger.beforeWrite',
  'ledger.written',
  'ledger.synced',
  'ledger.confirmed',
] as const;

/** The name of one such place. */
export type LedgerCrashPoint = (typeof ledgerCrashPoints)[number];
