/** Ends an exhaustive switch: a value that reaches it is a bug, named in the error. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
