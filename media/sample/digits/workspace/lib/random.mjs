/**
 * Randomness that is the same on every machine: a 32-bit generator (mulberry32) seeded by words.
 *
 * @param {...(string | number)} words what the stream is for; the same words give the same stream
 */
export function randomFrom(...words) {
  let state = 0x811c9dc5;
  for (const char of words.join('|')) state = Math.imul(state ^ char.codePointAt(0), 0x01000193);

  /** A number in [0, 1). */
  function next() {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }
  const below = (limit) => Math.floor(next() * limit);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  /** A shuffled copy. */
  function shuffle(items) {
    const copy = [...items];
    for (let last = copy.length - 1; last > 0; last -= 1) {
      const other = below(last + 1);
      [copy[last], copy[other]] = [copy[other], copy[last]];
    }
    return copy;
  }
  return { next, below, normal, shuffle };
}
