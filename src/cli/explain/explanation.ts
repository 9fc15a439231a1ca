/** One word or code that hma says, explained: docs/messages.md is made of these, and `hma explain` prints them. Sentences, in Markdown's backticks. */
export interface Explanation {
  /** What it means. */
  readonly means: string;
  /** What hma has done about it by itself; absent where the whole group says it. */
  readonly did?: string;
  /** What a person can do. */
  readonly you: string;
}

/** What nobody needs to do anything about. */
export const nothing = 'Nothing.';
