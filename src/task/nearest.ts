/** Edit distance of two words (insert, remove, replace, swap of neighbours), for suggestions. */
export function editDistance(a: string, b: string): number {
  const rows: number[][] = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = best;
    }
  }
  return rows[a.length]![b.length]!;
}

const plain = (word: string): string => word.toLowerCase().replace(/[^a-z0-9]/g, '');

/**
 * The candidate that a writer most probably meant: equal but for case and separators, a common beginning of at least three
 * letters, or at most a third of the letters apart. Undefined when none is near.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const sought = plain(word).slice(0, 64);
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const known = plain(candidate);
    const prefix = sought.length >= 3 && (known.startsWith(sought) || sought.startsWith(known));
    const distance = prefix ? 0.5 : editDistance(sought, known);
    if (distance > Math.max(1, Math.floor(Math.max(sought.length, known.length) / 3)) && !prefix) continue;
    if (!best || distance < best.distance || (distance === best.distance && candidate.length < best.candidate.length))
      best = { candidate, distance };
  }
  return best?.candidate;
}
