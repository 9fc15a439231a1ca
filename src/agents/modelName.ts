/** Parts of a model's name that say which build of it answered, not which model: dates, versions of a snapshot, `latest`. */
const build = /^(?:[-@:](?:\d{4}-\d{2}-\d{2}|\d{6,8}|latest|v\d+(?::\d+)?|\d{3}))+$/u;

/**
 * Whether the model that a harness reports is the one that was asked for. A provider's prefix (`openrouter/…`) and a snapshot's date
 * don't count; an alias without a number (`opus`) is any model that bears the name. Everything else is another model, also a smaller
 * or an older one of the same family.
 */
export function isModelAsked(asked: string, reported: string): boolean {
  const [wanted, told] = [asked, reported].map((name) => bare(name));
  if (wanted === undefined || told === undefined || wanted === told) return true;
  if (build.test(told.startsWith(wanted) ? told.slice(wanted.length) : ' ')) return true;
  if (build.test(wanted.startsWith(told) ? wanted.slice(told.length) : ' ')) return true;
  return !/\d/u.test(wanted) && told.split(/[-.:@]/u).includes(wanted);
}

/** Without the provider's prefix, and without what is said of its window (`[1m]`). */
const bare = (name: string): string =>
  name
    .toLowerCase()
    .replace(/\[[^\]]*\]$/u, '')
    .split('/')
    .at(-1)
    ?.trim() ?? '';
