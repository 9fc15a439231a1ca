import { createInterface } from 'node:readline/promises';

import { failure, type Failure } from '../client/failure.ts';
import { isForPeople, type Desk } from './desk.ts';
import { Interrupted } from './progress.ts';

/** Asks a yes-or-no question; where nobody can answer it is refused with how to say yes beforehand. Throws `Interrupted` at Ctrl-C and Ctrl-D. */
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
  // Ctrl-C rejects the question, Ctrl-D only closes the prompt
  const left = new Promise<never>((_, reject) =>
    prompt.once('close', () => reject(new Interrupted('nobody answered'))),
  );
  const question = prompt.question(`${asked.question} [y/N] `).catch(() => left);
  const answer = await Promise.race([question, left]).catch((error: unknown) => {
    desk.stdout.write('\n');
    throw error;
  });
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}
