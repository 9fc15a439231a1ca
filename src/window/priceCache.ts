import { loadPrices } from '../agents/priceFile.ts';
import { defaultPrices } from '../agents/prices.ts';
import type { Prices } from '../analysis/usage.ts';

/** How long prices are used before their files are read again, ms. */
const freshMs = 10_000;

/** The prices by which a window shows costs: the user's own count a few seconds after they were written. */
export class PriceCache {
  #read: { readonly home: string; readonly at: number; readonly prices: Prices } | null = null;

  /** Prices for the runs of a state folder; the built-in ones while there is none. */
  of(home: string | undefined): Prices {
    if (home === undefined) return defaultPrices;
    const now = performance.now();
    if (this.#read?.home === home && now - this.#read.at < freshMs) return this.#read.prices;
    const { prices } = loadPrices(home, process.env);
    this.#read = { home, at: now, prices };
    return prices;
  }
}
