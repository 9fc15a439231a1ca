import type { Place, Said } from './place.ts';

/** One wrong thing that somebody gives, and what is said about it. The whole text stands in docs/bad-input.md. */
export interface BadInput {
  readonly name: string;
  /** What was given, in a line or a few: a command line, the text of a file, what was done. */
  readonly given: string;
  /** Parts of the message, written by hand: where it is, why it is wrong, what to do. */
  readonly says: readonly string[];
  /** The exit code of a command; none where the message comes from elsewhere. */
  readonly exit?: number;
  /** Gives the wrong thing in a fresh place, and answers what was said. */
  readonly give: (place: Place) => Said | string | Promise<Said | string>;
}

/** Cases of one kind, with a heading and what holds for all of them. */
export interface BadInputs {
  readonly title: string;
  readonly about: string;
  readonly cases: readonly BadInput[];
}
