/**
 * A text as one printable line of at most `length` characters (code points): white space and control characters, those that turn the
 * writing direction included, become one space; what is too long ends in "…". For words that come from programs and are shown to people
 * or agents.
 */
export function oneLine(text: string, length = 200): string {
  // enough for any line, and a bound on the work for a text of megabytes
  const start = text.trimStart().slice(0, length * 8);
  const line = start.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\s]+/gu, ' ').trim();
  const characters = Array.from(line);
  const cut = characters.length > length || start.length < text.trim().length;
  return cut ? `${characters.slice(0, length - 1).join('')}…` : line;
}

/** What closes every crash of Node and says nothing of it, and the lines of a stack trace. */
const afterTheError = /^(Node\.js v\d|\s+at |\}$|\s*$)/u;

/**
 * The last line of an output that says something, without terminal sequences, as one printable line; empty when there is none. Of a
 * crashed Node program that is its error, not the trace behind it.
 */
export function lastLineOf(output: string, length = 160): string {
  const lines = output
    .replace(/\u001b\[[0-9;?]*[A-Za-z]/gu, '')
    .trimEnd()
    .split(/[\r\n]+/u);
  const last = lines.at(-1) ?? '';
  const said = /^Node\.js v\d/u.test(last)
    ? (lines.findLast((line) => /^(\w*Error|\[\w*Error)\b/u.test(line)) ??
      lines.findLast((line) => !afterTheError.test(line)) ??
      last)
    : last;
  return oneLine(said, length);
}
