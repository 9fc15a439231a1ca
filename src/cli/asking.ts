import { createInterface } from 'node:readline/promises';

import { failure, type Failure } from '../client/failure.ts';
import { isForPeople, type Desk } from './desk.ts';

/** Asks a yes-or-no question; where nobody can answer it is refused with how to say yes beforehand. */
export async function confirmed(
  desk: Desk,
  asked: { readonly question: string; readonly command: string; readonly yes: boolean },
): Promise<boolean | Failure> {
  if (asked.yes) return true;
  if (!isForPeople(desk))
    return failure('usage', 'not_confirmed', {
      what: `${asked.command} asks first, and nobody can answer here`,
      fix: 'Add --yes.',
    });
  const prompt = createInterface({ input: desk.stdin, output: desk.stdout });
  const answer = await prompt.question(`${asked.question} [y/N] `).finally(() => prompt.close());
  return /^y(es)?$/i.test(answer.trim());
}
