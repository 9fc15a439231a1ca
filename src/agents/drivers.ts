import type { Driver } from './driver.ts';

/** The drivers by the name that `drive.js` is started with. */
export const drivers: Readonly<Record<string, Driver>> = {};
