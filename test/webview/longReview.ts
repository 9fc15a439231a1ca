import { longRun } from './galleries.ts';
import type { ReviewTab } from './page.ts';

/** What one thing took, ms: until it was seen, and the CPU of the page's main thread, which other work on the machine is not in. */
interface Took {
  readonly wall: number;
  readonly cpu: number;
}

/** What a page with very many rows takes for an event to become a row, and for another order. */
export interface LongReview {
  readonly candidates: number;
  readonly rows: number;
  readonly events: readonly Took[];
  readonly sorts: readonly Took[];
}

/** Shows a run of some length in a page, lets seven events come, and clicks five headings. */
export async function measureLongReview(tab: ReviewTab, length: number): Promise<LongReview> {
  const all = longRun(length);
  const { experiments, archive } = all;
  const upTo = (end: number) => ({
    ...all,
    experiments: experiments.slice(0, end),
    archive: archive.filter(({ id }) => Number(id.slice(1)) <= end),
  });
  const timed = await stopwatch(tab);
  const minutes = 345;
  const from = length - 15;
  await tab.show(upTo(from), { minutes });
  await tab.row(`e${from - 2}`).waitFor();
  const events: Took[] = [];
  // a rejected one goes to the end, out of sight
  for (let end = from + 1; end <= length && events.length < 7; end += 1) {
    if (experiments[end - 1]?.state !== 'accepted') continue;
    const message = JSON.stringify(tab.message(upTo(end), { minutes }));
    events.push(
      await timed(`window.postMessage(${message}, '*')`, `document.querySelector('.row[data-row="e${end}"]')`),
    );
  }
  const sorts: Took[] = [];
  for (const column of ['score', 'author', 'note', 'change', 'quality']) {
    const heading = `document.querySelector('.heading[data-cell="${column}"]')`;
    sorts.push(await timed(`${heading}.click()`, `${heading}.getAttribute('aria-sort') !== 'none'`));
  }
  return { candidates: archive.length, rows: experiments.length, events, sorts };
}

/** Does something in the page and waits, frame by frame, until something is so. */
async function stopwatch({ page }: ReviewTab): Promise<(action: string, done: string) => Promise<Took>> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const spent = async (): Promise<number> => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
  };
  return async (action, done) => {
    const before = await spent();
    const wall = await page.evaluate<number>(`new Promise((resolve) => {
      const start = performance.now();
      ${action};
      const look = () => (${done}) ? resolve(performance.now() - start) : requestAnimationFrame(look);
      requestAnimationFrame(look);
    })`);
    return { wall, cpu: (await spent()) - before };
  };
}
