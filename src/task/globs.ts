import picomatch from 'picomatch';

/** Whether a path of the contract is a glob rather than a plain path. */
export const isGlob = (path: string): boolean => /[*?[\]{}]|[!@+]\(/.test(path);

/** Whether a path (relative, `/`-separated) is named by a path or glob, or lies below one it names. */
export function covers(pattern: string, path: string): boolean {
  if (pattern === '.' || path === pattern || path.startsWith(`${pattern}/`)) return true;
  if (!isGlob(pattern)) return false;
  const matches = picomatch(pattern, { dot: true });
  const parts = path.split('/');
  return parts.some((_, index) => matches(parts.slice(0, index + 1).join('/')));
}

/**
 * Whether two paths or globs can name a common file, or one a folder around what the other names. `isFile` says which plain paths are
 * known to be no folders. Exact for plain paths; for two wildcards within one segment it compares what stands before and after them,
 * so it may say yes where no such name exists.
 */
export function overlap(a: string, b: string, isFile: (path: string) => boolean = () => false): boolean {
  if ((!isGlob(b) && covers(a, b)) || (!isGlob(a) && covers(b, a))) return true;
  const isFolder = (pattern: string): boolean => !isGlob(pattern) && !isFile(pattern);
  return meet(segments(a), segments(b), { a: isFolder(a), b: isFolder(b) });
}

const segments = (pattern: string): string[] => (pattern === '.' ? [] : pattern.split('/'));

/** `folders` says which of the two stands for all below it, so that the other may go on where it ends. */
function meet(
  a: readonly string[],
  b: readonly string[],
  folders: { readonly a: boolean; readonly b: boolean },
): boolean {
  const [firstA, ...restA] = a;
  const [firstB, ...restB] = b;
  if (firstA === undefined && firstB === undefined) return true;
  if (firstA === '**')
    return (
      meet(restA, b, folders) ||
      (firstB !== undefined && meet(a, restB, folders)) ||
      (firstB === undefined && folders.b)
    );
  if (firstB === '**')
    return (
      meet(a, restB, folders) ||
      (firstA !== undefined && meet(restA, b, folders)) ||
      (firstA === undefined && folders.a)
    );
  if (firstA === undefined) return folders.a;
  if (firstB === undefined) return folders.b;
  return segmentsMeet(firstA, firstB) && meet(restA, restB, folders);
}

function segmentsMeet(a: string, b: string): boolean {
  if (!isGlob(a) && !isGlob(b)) return a === b;
  if (!isGlob(b)) return picomatch.isMatch(b, a, { dot: true });
  if (!isGlob(a)) return picomatch.isMatch(a, b, { dot: true });
  const edges = (glob: string): [string, string] => [
    /^[^*?[\]{}!@+()]*/.exec(glob)![0],
    /[^*?[\]{}!@+()]*$/.exec(glob)![0],
  ];
  const [startA, endA] = edges(a);
  const [startB, endB] = edges(b);
  return (startA.startsWith(startB) || startB.startsWith(startA)) && (endA.endsWith(endB) || endB.endsWith(endA));
}
