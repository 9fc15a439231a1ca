import type { ToHost } from './reviewMessages.ts';

/** The fields of each message but its type, by name. */
type Shapes = {
  readonly [Type in ToHost['type']]: {
    readonly [Field in Exclude<keyof Extract<ToHost, { type: Type }>, 'type'>]: 'string' | 'boolean';
  };
};

const shapes: Shapes = {
  ready: {},
  select: { candidate: 'string', reason: 'string' },
  clear: { reason: 'string' },
  reveal: {},
  star: { candidate: 'string', on: 'boolean' },
  hide: { candidate: 'string', on: 'boolean' },
  diff: { before: 'string', after: 'string' },
  files: { candidate: 'string' },
  act: { act: 'string', candidate: 'string' },
  gradeAll: {},
  apply: {},
};

/** Longest text a person may write, as the controller's schema has it. */
const longest = 4000;

/** A message as the page's protocol has it; null for anything else, which is dropped: a page is a boundary, too. */
export function readReviewMessage(value: unknown): ToHost | null {
  if (typeof value !== 'object' || value === null) return null;
  const message = value as Readonly<Record<string, unknown>>;
  const { type } = message;
  if (typeof type !== 'string' || !Object.hasOwn(shapes, type)) return null;
  const fields = Object.entries<string>(shapes[type as ToHost['type']]);
  const fits = ([name, kind]: [string, string]): boolean => {
    const field = message[name];
    return typeof field === kind && (typeof field !== 'string' || field.length <= longest);
  };
  return fields.every(fits) ? (message as unknown as ToHost) : null;
}
