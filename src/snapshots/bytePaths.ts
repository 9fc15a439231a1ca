import { isUtf8 } from 'node:buffer';

/*
 * Names on Unix are bytes; ours are strings. A name that is UTF-8 is that text. In any other, each byte that can't be decoded becomes
 * the lone surrogate U+DC00 + byte (Python's "surrogateescape"), which no valid UTF-8 can give: so the mapping is one to one, and such
 * a string passes unharmed through JSON, which writes it as an escape.
 */

const SLASH = 0x2f;

/** The string for raw name bytes; reversed by `pathBytes`. */
export function pathText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    text += length === 0 ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + length);
    at += Math.max(length, 1);
  }
  return text;
}

/** How many bytes from `at` form one valid UTF-8 character; 0 when none do. */
function sequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0;
  const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const slice = bytes.subarray(at, at + length);
  return slice.length === length && isUtf8(slice) ? length : 0;
}

/** The raw bytes of a path string made by `pathText` (or of any ordinary string). */
export function pathBytes(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    parts.push(code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(character, 'utf8'));
  }
  return Buffer.concat(parts);
}

/** The order of everything in a snapshot: by raw bytes of the path. */
export function comparePaths(left: string, right: string): number {
  // up to U+D7FF the order of UTF-16 units is the order of the bytes, and a hundred times as quick to get
  if (ABOVE_D7FF.test(left) || ABOVE_D7FF.test(right)) return Buffer.compare(pathBytes(left), pathBytes(right));
  return left < right ? -1 : Number(left > right);
}

const ABOVE_D7FF = /[\ud800-\uffff]/;

/**
 * The path under which a file lies in the private repository's tree. git refuses an entry named `.git` and reads meaning into
 * `.gitmodules` and `.gitattributes`, so a component that begins with `.git` (in any case) or `%` gets a `%` in front: one to one.
 */
export const treePath = (path: string): string =>
  path
    .split('/')
    .map((name) => (/^(%|\.git)/i.test(name) ? `%${name}` : name))
    .join('/');

/** Undoes `treePath`. */
export const fromTreePath = (path: string): string =>
  path
    .split('/')
    .map((name) => (name.startsWith('%') ? name.slice(1) : name))
    .join('/');

/** A path in git's C quotes, pure ASCII: what fast-import reads and what diffs print for odd names. */
export function quotePath(path: string): string {
  let quoted = '"';
  for (const byte of pathBytes(path)) {
    if (byte === 0x22 || byte === 0x5c) quoted += `\\${String.fromCharCode(byte)}`;
    else if (byte >= 0x20 && byte < 0x7f) quoted += String.fromCharCode(byte);
    else quoted += `\\${byte.toString(8).padStart(3, '0')}`;
  }
  return `${quoted}"`;
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };

/** The path behind git's C quotes; a path without quotes is itself. */
export function unquotePath(quoted: string): string {
  if (!quoted.startsWith('"')) return quoted;
  const bytes: number[] = [];
  for (const match of quoted.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\])/gsu)) {
    if (match[1] !== undefined) bytes.push(Number.parseInt(match[1], 8));
    else if (match[2] !== undefined) bytes.push(ESCAPES[match[2]] ?? match[2].charCodeAt(0));
    else bytes.push(...Buffer.from(match[3] ?? '', 'utf8'));
  }
  return pathText(Buffer.from(bytes));
}

/** Joins raw bytes with a slash. */
export const joinBytes = (folder: Buffer, name: Buffer): Buffer =>
  folder.length === 0 ? name : Buffer.concat([folder, Buffer.of(SLASH), name]);
