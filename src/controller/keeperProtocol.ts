/** How a controller ends, for its keeper: `finished` and `refused` are final, after anything else it is started again. */
export const controllerExit = { finished: 0, died: 70, refused: 73, asked: 75 } as const;

/** `keeper.json`: what the keeper is doing or why it stopped. */
export type KeeperRecord =
  | { readonly state: 'keeping'; readonly pid: number; readonly start: string; readonly controller: number }
  | { readonly state: 'finished' }
  | { readonly state: 'refused' }
  | { readonly state: 'gave_up'; readonly deaths: number; readonly why: string; readonly wall: number };
