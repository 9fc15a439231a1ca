import { fit } from './text.ts';

/** A stream that may be a terminal. */
export interface ScreenStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/**
 * A log that grows downwards, with one line below it that changes: on a terminal that moves its cursor only. Elsewhere (pipes, files, dumb
 * terminals) the changing line is never written, so that what is left is plain lines.
 */
export class Screen {
  readonly #stream: ScreenStream;
  readonly #redraws: boolean;
  #bottom = '';
  #shown = false;

  /** `moves`: where the stream is a terminal, it moves its cursor. */
  constructor(stream: ScreenStream, moves = true) {
    this.#stream = stream;
    this.#redraws = moves && stream.isTTY === true;
  }

  /** Adds lines above the bottom one, which may be replaced in the same stroke. */
  print(lines: readonly string[], bottom: string = this.#bottom): void {
    if (lines.length === 0) return this.setBottom(bottom);
    this.#clear();
    this.#bottom = bottom;
    this.#stream.write(`${lines.join('\n')}\n`);
    this.#draw();
  }

  /** Replaces the bottom line; an empty text removes it. */
  setBottom(text: string): void {
    if (text === this.#bottom) return;
    this.#clear();
    this.#bottom = text;
    this.#draw();
  }

  #clear(): void {
    if (this.#shown) this.#stream.write('\r\u001b[K');
    this.#shown = false;
  }

  #draw(): void {
    if (!this.#redraws || this.#bottom === '') return;
    this.#stream.write(fit(this.#bottom, Math.max(10, (this.#stream.columns ?? 80) - 1)));
    this.#shown = true;
  }
}
