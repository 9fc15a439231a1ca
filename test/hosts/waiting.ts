import { setTimeout as later } from 'node:timers/promises';

/**
 * How long a test waits for something in VS Code, in ms, where nothing else is said: the machine may be busy with much else.
 * EDITOR_PATIENCE_MS shortens it for whoever writes tests.
 */
export const patience = Number(process.env['EDITOR_PATIENCE_MS'] ?? 60_000);

/**
 * Asks again every 100 ms until `look` gives something other than undefined, null or false.
 * @throws after `ms`, saying what was waited for and what was seen last
 */
export const until = async <Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
  ms = patience,
): Promise<Exclude<Seen, undefined | null | false>> => {
  const end = performance.now() + ms;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== null && seen !== false) {
      return seen as Exclude<Seen, undefined | null | false>;
    }
    if (performance.now() > end) throw new Error(`Waited ${ms} ms for ${what}.`);
    await later(100);
  }
};
