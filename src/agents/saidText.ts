import { plainOutput } from '../base/plainOutput.ts';
import type { SaidLine } from './port.ts';
import type { Sayer } from './sayer.ts';

/** A longer line is not understood any more, so that one line can't fill the memory, characters. */
const longestLine = 16 * 1024 * 1024;

/** Turns the bytes of a session's output into what it said, whole lines at a time, wherever the pieces are cut. */
export class SaidText {
  readonly #say: Sayer;
  #decoder = new TextDecoder();
  #rest: string[] = [];
  #length = 0;
  #skipping: boolean;

  /** `midLine`: the first bytes belong to a line whose beginning is not shown; it is left out. */
  constructor(say: Sayer, midLine = false) {
    this.#say = say;
    this.#skipping = midLine;
  }

  /** What the lines said that these bytes complete. */
  take(bytes: Uint8Array): readonly SaidLine[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    const lines = text.split('\n');
    const last = lines.pop() ?? '';
    const said = lines.flatMap((line) => this.#complete(line));
    this.#keep(last);
    return said;
  }

  /** Bytes are missing here: the line around them is left out. */
  gap(): void {
    this.#decoder = new TextDecoder();
    this.#forget();
    this.#skipping = true;
  }

  /** What the last line said, which nothing ended. */
  end(): readonly SaidLine[] {
    return this.#length === 0 && !this.#skipping ? [] : this.#complete('');
  }

  #complete(end: string): readonly SaidLine[] {
    const line = [...this.#rest, end].join('').replace(/\r$/, '');
    const skip = this.#skipping;
    this.#forget();
    return skip || line === '' ? [] : this.#say(line);
  }

  #keep(piece: string): void {
    if (this.#skipping || piece === '') return;
    this.#rest.push(piece);
    this.#length += piece.length;
    if (this.#length <= longestLine) return;
    this.#forget();
    this.#skipping = true;
  }

  #forget(): void {
    this.#rest = [];
    this.#length = 0;
    this.#skipping = false;
  }
}

/** Before a line, by what it is: it stays readable without colours. */
const marks: Readonly<Record<SaidLine['kind'], string>> = {
  text: '',
  thinking: '  ',
  tool: '',
  result: '  ',
  usage: '  ',
  note: '· ',
  error: '! ',
  person: '» ',
};

/** Display attributes (SGR) by what a line is, of the terminal's own colours: on and off. */
const looks: Readonly<Record<SaidLine['kind'], readonly [string, string]>> = {
  text: ['', ''],
  thinking: ['2;3', '22;23'],
  tool: ['1', '22'],
  result: ['2', '22'],
  usage: ['2;34', '22;39'],
  note: ['2', '22'],
  error: ['31', '39'],
  person: ['32', '39'],
};

/** One said line as lines for a terminal, without line ends. Nothing in it moves a cursor: an agent's words are shown, not obeyed. */
export function paintSaid({ kind, text }: SaidLine, colours: boolean): string[] {
  const [on, off] = looks[kind];
  return plainOutput(text)
    .trimEnd()
    .split('\n')
    .map((line) => {
      const marked = marks[kind] + line.replaceAll('\t', '    ');
      return colours && on !== '' && line !== '' ? `\u001b[${on}m${marked}\u001b[${off}m` : marked;
    });
}
