import { adapters } from './adapters.ts';
import type { SaidLine } from './port.ts';

/** Puts one line of a harness's output into words. */
export type Sayer = (line: string) => readonly SaidLine[];

/** How the output of an adapter's harness is put into words; undefined where it is plain text already. */
export function sayerOf(adapterName: string): Sayer | undefined {
  const adapter = Object.hasOwn(adapters, adapterName) ? adapters[adapterName] : undefined;
  return adapter?.say && ((line) => adapter.say?.(line) ?? []);
}
