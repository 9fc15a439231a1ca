/** Names of the harnesses that this version can start, without what starts them: for editors and checks. */
export const adapterNames = ['command', 'demo'] as const;

/** One of them. */
export type AdapterName = (typeof adapterNames)[number];
