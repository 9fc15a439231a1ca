import { loadPrices, type PriceTable } from '../agents/priceFile.ts';
import { costOf, explorationUsage, type Prices } from '../analysis/usage.ts';
import type { RunEvent } from '../run/events.ts';
import type { Room } from './room.ts';

/** How long a table of prices is used before the files are read again, ms. */
const freshMs = 10_000;

/**
 * The prices by which `budgets.cost` is judged, and what of it can't be judged: a model without a price, or a price file with an error,
 * is told once in the run, since a cap that doesn't count must not be relied upon.
 */
export class CostWatch {
  readonly #room: Room;
  readonly #said: Set<string>;
  readonly #subscription: Disposable;
  #table: { readonly read: PriceTable; readonly at: number } | null = null;

  constructor(room: Room) {
    this.#room = room;
    this.#said = new Set(
      (room.recorder.eventsAfter(0) as readonly RunEvent[])
        .filter((event) => event.type === 'run.noticed')
        .map(({ data }) => data.text),
    );
    this.#subscription = room.recorder.subscribe((events) => {
      if (events.some(({ type }) => type === 'attempt.responded' || type === 'budget.changed')) this.#tell();
    });
  }

  /** Prices of models; none are looked up while no budget needs them. */
  prices(): Prices {
    return this.#isNeeded() ? this.#read().prices : {};
  }

  #isNeeded(): boolean {
    return this.#room.recorder.state.budgets.cost !== undefined;
  }

  #read(): PriceTable {
    const now = performance.now();
    if (this.#table && now - this.#table.at < freshMs) return this.#table.read;
    const read = loadPrices(this.#room.home, this.#room.env);
    this.#table = { read, at: now };
    return read;
  }

  #tell(): void {
    const { recorder } = this.#room;
    if (!this.#isNeeded() || recorder.state.phase !== 'exploring') return;
    const { prices, problems, files } = this.#read();
    const { unpriced } = costOf(explorationUsage(recorder.state), prices);
    const texts = [
      ...problems.map(({ file, what, fix }) => ['prices_broken', `${file}: ${what}. ${fix}`] as const),
      ...unpriced.map(
        (model) =>
          [
            'price_unknown',
            `budgets.cost does not count ${model ?? 'a model whose name its harness does not tell'}: it has no price${model === null ? '' : `; add one to ${files.at(-1)} (see hma prices)`}`,
          ] as const,
      ),
    ];
    for (const [code, text] of texts) {
      if (this.#said.has(text)) continue;
      this.#said.add(text);
      // not from within the listener: the others are to hear of the responses first
      queueMicrotask(() => recorder.append([{ type: 'run.noticed', data: { level: 'warning', code, text } }]));
    }
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }
}
