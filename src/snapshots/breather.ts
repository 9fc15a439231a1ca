import { setImmediate } from 'node:timers/promises';

/**
 * Lets other work of the process in after each `milliseconds` of synchronous work. File calls here are synchronous (four times as fast
 * as the thread pool for small files), and the controller must go on answering while a large tree is captured.
 */
export function breather(milliseconds = 8): () => Promise<void> | undefined {
  let last = performance.now();
  return () => {
    if (performance.now() - last < milliseconds) return undefined;
    return setImmediate().then(() => {
      last = performance.now();
    });
  };
}
