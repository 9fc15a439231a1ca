import { closeSync, constants, fsyncSync, openSync } from 'node:fs';

/** Makes the names in a folder durable: git syncs its files but not the folders they lie in. Throws the system's error. */
export function syncFolder(path: string): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
