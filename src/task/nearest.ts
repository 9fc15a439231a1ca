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

/** Words that people write for a word of the contract, where that one is possible. No letters in common, so no distance finds them. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  // metric.direction
  maximize: ['up', 'higher', 'higherisbetter', 'increase', 'increasing', 'greater', 'larger', 'bigger', 'more', 'most'],
  minimize: ['down', 'lower', 'lowerisbetter', 'decrease', 'decreasing', 'less', 'smaller', 'fewer', 'least'],
  // feedback
  score: ['visible', 'shown', 'open', 'yes', 'on', 'true'],
  blind: ['hidden', 'no', 'off', 'false', 'none'],
  // policy, and what follows a failure
  alternate: ['both', 'two', 'pair', 'hma', 'taketurns'],
  single: ['one', 'solo', 'alone', 'baseline'],
  handover: ['switch', 'next', 'other', 'goon'],
  pause: ['stop', 'halt'],
  wait: ['retry', 'again'],
  standing: ['last', 'latest', 'newest'],
  record: ['best', 'top'],
  // isolation, and where a number may be without limit
  bubblewrap: ['bwrap', 'sandbox'],
  none: ['off', 'no', 'false', 'disabled', 'unlimited', 'infinite', 'offline', 'closed'],
  open: ['on', 'yes', 'true', 'host', 'online', 'full'],
  auto: ['default', 'on', 'yes', 'true'],
  limited: ['ask', 'restricted', 'safe'],
  bypass: ['yolo', 'all', 'unrestricted', 'dangerous'],
  shell: ['bash', 'sh', 'terminal'],
  // adapters
  'claude-code': ['anthropic', 'opus', 'sonnet'],
  codex: ['openai', 'gpt', 'chatgpt'],
  gemini: ['google'],
  qwen: ['alibaba'],
  kimi: ['moonshot'],
  // keys
  objective: ['goal', 'task', 'description', 'instructions'],
  candidate: ['files', 'solution', 'submission'],
  evaluate: ['test', 'scorer', 'benchmark'],
  direction: ['goal', 'optimize', 'mode'],
  total: ['time', 'hours', 'duration'],
  cap: ['k', 'limit'],
};

/** What a writer most probably meant: a synonym's word, else the nearest one. Undefined when there is none. */
export function meant(word: string, candidates: readonly string[]): string | undefined {
  const sought = plain(word);
  return (
    candidates.find((candidate) => plain(candidate) === sought) ??
    candidates.find((candidate) => Object.hasOwn(synonyms, candidate) && synonyms[candidate]?.includes(sought)) ??
    nearest(word, candidates)
  );
}
