import type * as vscode from 'vscode';

/** Calls `tick` once a second while it is wanted; costs nothing otherwise. */
export class Ticker implements vscode.Disposable {
  readonly #tick: () => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(tick: () => void) {
    this.#tick = tick;
  }

  /** Whether time goes by for what is shown, and somebody looks. */
  want(on: boolean): void {
    if (on === (this.#timer !== null)) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = on ? setInterval(this.#tick, 1000) : null;
  }

  dispose(): void {
    this.want(false);
  }
}
