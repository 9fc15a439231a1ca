/** The code block of a page whose first line is a comment with this name. Throws where there is none. */
export function codeIn(page: string, name: string): string {
  const block = [...page.matchAll(/^```\w*\n([^]*?)^```$/gm)].find(
    ([, code = '']) => /^(?:\/\/|#) (.+)$/m.exec(code)?.[1] === name,
  );
  if (block?.[1] === undefined) throw new Error(`the page has no code block ${name}`);
  return block[1];
}

/** The JSON blocks of a page, in order. */
export const jsonBlocks = (page: string): string[] =>
  [...page.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, code = '']) => code);
