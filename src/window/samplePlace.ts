import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The program that lays the sample out: it ships beside the bundle, as it is (media/sample/digits/layOut.mjs). */
interface SampleProgram {
  readonly layOut: (
    workspace: string,
    hidden: string,
    options: Readonly<Record<string, string>>,
  ) => { readonly workspace: string };
}

/** A name that nothing has yet: the wanted one, or with a number. */
export function freeName(wanted: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!existsSync(name) || readdirSync(name).length === 0) return name;
  }
}

/**
 * Lays the sample out below `parent` (made if missing) and gives its workspace. The agents are copied beside it, since an editor deletes an
 * old extension's folder; the labels that agents must not read lie beside it, too.
 */
export async function layOutSample(extensionPath: string, parent: string): Promise<string> {
  mkdirSync(parent, { recursive: true });
  const { layOut } = (await import(
    pathToFileURL(join(extensionPath, 'media', 'sample', 'digits', 'layOut.mjs')).href
  )) as SampleProgram;
  const made = layOut(join(parent, 'digits'), join(parent, 'hidden'), {
    agents: join(parent, 'agents'),
    total: '5m',
    review: '1m',
  });
  return made.workspace;
}
