/** A code as words: `usage_limit` → `usage limit`. */
export const sayWord = (code: string): string => code.replaceAll('_', ' ');

/** Words for a number: `1 candidate`, `3 candidates`. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;
