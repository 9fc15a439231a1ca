import { claudeCodeDriver } from './claudeCode/driver.ts';
import { codexDriver } from './codex/driver.ts';
import type { Driver } from './driver.ts';
import { opencodeDriver } from './opencode/driver.ts';

/** The drivers by the name that `drive.js` is started with. */
export const drivers: Readonly<Record<string, Driver>> = {
  'claude-code': claudeCodeDriver,
  codex: codexDriver,
  opencode: opencodeDriver,
};
