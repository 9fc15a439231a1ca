import * as z from 'zod';

import {
  dateTimePattern,
  durationPattern,
  parseDateTime,
  parseDuration,
  parseSize,
  parseTokens,
  sizePattern,
  tokensPattern,
} from './quantities.ts';

/**
 * What a place of the contract expects, carried through zod as the text of its error: `noun` completes "must be …", `fix` says
 * what to write. `readExpectation` takes it apart again.
 */
export const expecting = (noun: string, fix: string): { error: () => string } => ({ error: () => `${noun}\n${fix}` });

/** The two halves of an expectation, or undefined for a message that is zod's own. */
export function readExpectation(message: string): { noun: string; fix: string } | undefined {
  const cut = message.indexOf('\n');
  return cut < 0 ? undefined : { noun: message.slice(0, cut), fix: message.slice(cut + 1) };
}

const durationSays = expecting(
  'a duration above 0',
  'Write it like 6h, 15m, 90s or 1h30m; a bare number means seconds.',
);

/** A duration above zero: `6h`, `15m`, `90s`, `1h30m`, or seconds as a number. */
export const duration = z
  .union(
    [z.number(durationSays).positive(durationSays), z.string(durationSays).regex(durationPattern, durationSays)],
    durationSays,
  )
  .refine((value) => (parseDuration(value) ?? 0) > 0, durationSays);

const waitSays = expecting('a duration', 'Write it like 30s, 15m or 1h30m; a bare number means seconds.');

/** A duration that may be zero. */
export const wait = z
  .union([z.number(waitSays).nonnegative(waitSays), z.string(waitSays).regex(durationPattern, waitSays)], waitSays)
  .refine((value) => parseDuration(value) !== undefined, waitSays);

const sizeSays = expecting('a size', 'Write it like 2GB, 64MiB or 512KB; a bare number means bytes.');

/** A size above zero: `2GB`, `64MiB`, or bytes as a number. */
export const size = z
  .union(
    [z.number(sizeSays).int(sizeSays).positive(sizeSays), z.string(sizeSays).regex(sizePattern, sizeSays)],
    sizeSays,
  )
  .refine((value) => (parseSize(value) ?? 0) > 0, sizeSays);

const tokensSays = expecting('a number of tokens or none', 'Write it like 5M, 200k or 1.5B, a whole number, or none.');

/** A number of tokens above zero: `5M`, `200k`, or a whole number; or the word `none`. */
export const tokensOrNone = z.union(
  [
    z.number(tokensSays).int(tokensSays).positive(tokensSays),
    z.literal('none', tokensSays),
    z
      .string(tokensSays)
      .regex(tokensPattern, tokensSays)
      .refine((value) => (parseTokens(value) ?? 0) > 0, tokensSays),
  ],
  tokensSays,
);

const moneySays = expecting('an amount in US dollars or none', 'Write a number above 0, such as 20 or 12.5, or none.');

/** An amount of money above zero, US dollars; or the word `none`. */
export const moneyOrNone = z.union([z.number(moneySays).positive(moneySays), z.literal('none', moneySays)], moneySays);

const dateTimeSays = expecting(
  'a date and time',
  'Write it like 2026-12-01T18:00Z, with +01:00 or the like for another zone; without a zone it is local time.',
);

/** An ISO date-time, with a zone or local. */
export const dateTime = z
  .string(dateTimeSays)
  .regex(dateTimePattern, dateTimeSays)
  .refine((value) => parseDateTime(value) !== undefined, dateTimeSays);

const mostOfAll = 1_000_000_000;

/** A whole number from `least` to `most`. */
export function count(least: number, most = mostOfAll) {
  const noun = `a whole number from ${least}${most < mostOfAll ? ` to ${most}` : ''}`;
  const says = expecting(noun, `Write ${noun}.`);
  return z.number(says).int(says).min(least, says).max(most, says);
}

const numberSays = expecting('a number', 'Write a finite number, such as 0.85.');

const countOrNoneSays = expecting('a whole number from 1, or none', 'Write a number from 1, or none for no limit.');

/** A whole number from 1, or the word `none`. */
export const countOrNone = z.union(
  [
    z.number(countOrNoneSays).int(countOrNoneSays).min(1, countOrNoneSays).max(mostOfAll, countOrNoneSays),
    z.literal('none', countOrNoneSays),
  ],
  countOrNoneSays,
);

/** A finite number. */
export const finite = z.number(numberSays);

/** Text that isn't blank. NUL never passes. */
export function text(noun: string, fix: string) {
  const says = expecting(noun, fix);
  return z.string(says).refine((value) => value.trim() !== '' && !value.includes('\0'), says);
}

/** True or false. */
export const flag = z.boolean(expecting('true or false', 'Write true or false.'));

const pathSays = [
  'a path',
  'Write a path as text, such as data/test.csv; quote it when YAML reads it as a number.',
] as const;

/** A path as the user writes it. */
export const path = text(...pathSays);

const pathsSays = expecting('a path or a list of paths', 'Write one path, or a list such as [model.py, weights/**].');

/** One path, or a list of at least one. */
export const paths = z.union([text(...pathSays), z.array(path, pathsSays).min(1, pathsSays)], pathsSays);

const argument = z
  .string(expecting('text', 'Quote it, so that YAML keeps it as text.'))
  .refine((value) => !value.includes('\0'), expecting('text without NUL', 'Remove the NUL character.'));

const commandSays = expecting(
  'a command',
  'Write a list of arguments, such as [python3, evaluate.py], or one plain text.',
);

/** A program with its arguments: a list, or a text that is split without a shell. */
export const command = z.union(
  [
    text('a command', 'Write a program and its arguments, such as [python3, evaluate.py].'),
    z.array(argument, commandSays).min(1, commandSays),
  ],
  commandSays,
);

/** A mapping with exactly these keys; whatever else stands there is an unknown key. */
export function mapping<Shape extends z.core.$ZodLooseShape>(shape: Shape, noun: string) {
  const keys = Object.keys(shape);
  return z.strictObject(
    shape,
    expecting(
      noun,
      keys.length > 12
        ? 'Write at least objective, candidate and evaluate.'
        : `Write a mapping with ${keys.join(', ')}.`,
    ),
  );
}

/** One of a few words. */
export function word<const Words extends readonly [string, ...string[]]>(words: Words) {
  const list = words.length === 1 ? words[0] : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  return z.enum(words, expecting(list, `Write ${list}.`));
}

const namesSays = expecting(
  'a list of variable names',
  'Write names only, such as [CUDA_VISIBLE_DEVICES, HF_HOME]; their values come from the environment of `hma run`.',
);

const nameSays = expecting(
  'the name of a variable',
  'Write the name only, such as CUDA_VISIBLE_DEVICES; its value comes from the environment of `hma run`.',
);

/** Names of environment variables; never values. */
export const variableNames = z.array(z.string(nameSays).regex(/^[A-Za-z_][A-Za-z0-9_]*$/, nameSays), namesSays);
