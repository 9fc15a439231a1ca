import type { Desk } from '../desk.ts';

/** A story of a user, played with documented commands alone; throws when something in it doesn't hold. */
export interface Journey {
  /** Name of the file in docs/journeys. */
  readonly name: string;
  readonly title: string;
  play(desk: Desk): Promise<void>;
}
