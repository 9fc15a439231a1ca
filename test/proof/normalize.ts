/** What differs from one run to the next, made the same, so that a transcript's diff shows what changed in the product. */
const rules: readonly (readonly [RegExp, string])[] = [
  [/\d{8}-\d{6}-[0-9a-f]{4}/g, '20261130-181123-ab12'],
  [/(workspaces\/[\w.-]+)-[0-9a-f]{10}/g, '$1-0123456789'],
  [/^ {0,6}\d+:\d\d\.\d(?= {2})/gm, '  0:00.0'],
  [/\b\d+ min \d+ s\b/g, '9 min 59 s'],
  [/\b\d+(\.\d\d? s)\b/g, '0.00 s'],
  [/\b\d+ s (left|of the review left)/g, '9 s $1'],
  [/(Left: |Submit within )\d+ (s|min)\b/g, '$19 $2'],
  [/ {2}time {6}[█▓▒░·]+ of/g, '  time      ████████████████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒░░░ of'],
  [/(?<=(?:time .*\n(?:.*\n)?.*|^ {12}[█▓▒░].*))\b\d+\.\d %/gm, '0.0 %'],
  [/\bpid \d+/g, 'pid 1234'],
  [/\b\d{13}\b/g, '1796061083000'],
  [/"(wall|openedWall|acceptedWall|sinceWall|mono|active)":( ?)[\d.]+/g, '"$1":$20'],
  [/"(\w*(?:At|Ms))":( ?)\d[\d.]*/g, '"$1":$20'],
];

/** Replaces ids, clocks, lengths of time and pids, and the folders given (longest first) by their names. */
export function normalize(text: string, folders: Readonly<Record<string, string>>): string {
  const named = Object.entries(folders)
    .toSorted(([a], [b]) => b.length - a.length)
    .reduce((sofar, [folder, name]) => sofar.replaceAll(folder, name), text);
  return rules.reduce((sofar, [what, by]) => sofar.replace(what, by), named).replaceAll(/[ \t]+$/gm, '');
}
