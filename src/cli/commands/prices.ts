import { loadPrices } from '../../agents/priceFile.ts';
import { sayMoney } from '../../base/numbers.ts';
import { oneLine } from '../../base/oneLine.ts';
import { paperOf, remark, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { table } from '../render/text.ts';
import { pricesOutput } from '../schemas.ts';
import { homeFor } from './agents.ts';

/** `hma prices`: what models cost, from when and where, and the files in which a user's own prices count. */
export async function prices(desk: Desk, options: { readonly json?: boolean }): Promise<number> {
  const { prices: known, from, files, problems } = loadPrices(await homeFor(desk), desk.env);
  for (const { file, what, fix } of problems) remark(desk, `hma: ${file} does not count: ${what}\n     ${fix}`);
  const exit = problems.length > 0 ? exitCodes.failed : exitCodes.ok;
  if (options.json) {
    const models = Object.entries(known).map(([model, price]) => ({
      model,
      ...price,
      cacheWrite: price.cacheWrite ?? null,
      file: from[model] ?? null,
    }));
    await sayJson(desk, pricesOutput.parse({ files, models, problems }));
    return exit;
  }
  const { style, columns } = paperOf(desk);
  const rows = Object.entries(known).map(([model, price]) => [
    oneLine(model, 40),
    sayMoney(price.input),
    sayMoney(price.cachedInput),
    price.cacheWrite === undefined ? '' : sayMoney(price.cacheWrite),
    sayMoney(price.output),
    price.asOf,
    style.dim(from[model] === undefined ? oneLine(price.source, 80) : `yours: ${oneLine(price.source, 70)}`),
  ]);
  const head = ['model', 'input', 'cached', 'cache write', 'output', 'looked up', 'source'].map((word) =>
    style.dim(word),
  );
  await sayLines(desk, [
    'US dollars per million tokens, list prices for pay by use. A model that is not here is shown as —.',
    '',
    ...table({ rows: [head, ...rows], right: new Set([1, 2, 3, 4]), columns }),
    '',
    `Your own prices count before these, from the last of: ${files.join(' · ')}`,
    style.dim(
      '{"models": {"my-model": {"input": 2, "cachedInput": 0.2, "output": 10, "asOf": "2026-11-30", "source": "https://…"}}}',
    ),
  ]);
  return exit;
}
