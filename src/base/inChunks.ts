/** Does something to many things, at most 64 at a time: for file work that waits more than it computes. Results in order; the first error is thrown. */
export async function inChunks<Item, Done>(
  items: readonly Item[],
  work: (item: Item) => Promise<Done>,
): Promise<Done[]> {
  const done: Done[] = [];
  for (let at = 0; at < items.length; at += 64) {
    done.push(...(await Promise.all(items.slice(at, at + 64).map(work))));
  }
  return done;
}
