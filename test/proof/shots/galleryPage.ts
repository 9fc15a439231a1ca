import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { gallery } from './camera.ts';
import { states } from './states.ts';

const looks = [
  ['light', 'Light Modern'],
  ['dark', 'Dark Modern'],
  ['contrastLight', 'High Contrast Light'],
  ['contrast', 'High Contrast'],
] as const;

const head = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>HMA: every state in four looks</title>
<style>
  body { font: 15px/1.4 system-ui, sans-serif; margin: 24px; background: #777; color: #fff; }
  h2 { font-size: 17px; margin: 32px 0 8px; }
  .row { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 12px; }
  figure { margin: 0; }
  img { width: 100%; display: block; }
  figcaption { font-size: 12px; padding-top: 2px; }
</style>
<h1>HMA: every state in four looks</h1>
`;

/** Writes one page with all pictures of the gallery and gives its path. */
export function writeGalleryPage(): string {
  const figure = (name: string, [look, words]: (typeof looks)[number]): string => {
    const file = `${name}-${look}.png`;
    return existsSync(join(gallery, file))
      ? `<figure><a href="states/${file}"><img loading="lazy" src="states/${file}" alt="${words}"></a><figcaption>${words}</figcaption></figure>`
      : `<figure><figcaption>${words}: missing</figcaption></figure>`;
  };
  const sections = Object.entries(states).map(
    ([name, words]) =>
      `<h2 id="${name}">${words}</h2>\n<div class="row">${looks.map((look) => figure(name, look)).join('\n')}</div>`,
  );
  const path = join(gallery, '..', 'index.html');
  writeFileSync(path, `${head}${sections.join('\n')}\n</html>\n`);
  return path;
}
