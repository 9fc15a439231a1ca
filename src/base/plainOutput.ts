/** Sequences that would move the cursor, change titles or colours: an agent's output is shown, not obeyed. */
const escapes =
  /\u001b(?:\[[0-9;?<>=!]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])/g;

/** Output as text without control sequences, line ends kept. */
export const plainOutput = (text: string): string =>
  text
    .replace(escapes, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
