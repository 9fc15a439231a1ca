/**
 * The value below which a share `p` ∈ [0, 1] of the values lies, interpolated linearly between neighbours (type 7, as R and NumPy
 * do): position (n − 1)·p in sorted order. Same unit as the values. Undefined without values.
 */
export function quantile(values: readonly number[], p: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * p;
  const lower = sorted[Math.floor(position)];
  const upper = sorted[Math.ceil(position)];
  return lower === undefined || upper === undefined
    ? undefined
    : lower + (upper - lower) * (position - Math.floor(position));
}
