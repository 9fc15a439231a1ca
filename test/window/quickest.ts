/** The shortest of ten runs, ms: what the work itself takes, whatever else the machine is doing. */
export function quickest(work: () => unknown): number {
  const times = Array.from({ length: 10 }, () => {
    const started = performance.now();
    work();
    return performance.now() - started;
  });
  return Math.min(...times);
}
