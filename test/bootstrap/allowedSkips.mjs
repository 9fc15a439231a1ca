// @ts-check
/**
 * Tests that may be skipped in CI, by full name (as vitest prints it, joined by spaces), each with the reason.
 * Any other skipped test fails the run there.
 * @type {Readonly<Record<string, string>>}
 */
export const allowedSkips = {
  'an ordinary user gets bubblewrap and none, and a reason why not uid':
    'run where an ordinary user can read the checkout; below /root none can',
  'what may not be read is listed': 'root may read everything; the test runs as an ordinary user',
};
