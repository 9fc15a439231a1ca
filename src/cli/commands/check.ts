import { existsSync, realpathSync } from 'node:fs';

import { adapters } from '../../agents/adapters.ts';
import { findWorkspace } from '../../client/lookup.ts';
import { preflight, type PreflightItem } from '../../client/preflight.ts';
import { formatMessages } from '../../task/messages.ts';
import { paperOf, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { checkOutput } from '../schemas.ts';

/** `hma check`: all that a run needs, looked at without starting one. */
export async function check(desk: Desk, options: { readonly json?: boolean }): Promise<number> {
  const workspace = findWorkspace(desk.cwd) ?? realpathSync(desk.cwd);
  const found = await preflight({
    workspace,
    wall: desk.clock.now().wall,
    adapters: Object.keys(adapters),
    env: desk.env,
  });
  const bad = found.items.some(({ state }) => state === 'bad');
  if (options.json)
    await sayJson(desk, checkOutput.parse({ workspace, ready: !bad, tier: found.tier, items: found.items }));
  else {
    if (existsSync(`${workspace}/hma.yaml`)) desk.stderr.write(formatMessages(found.messages));
    await sayLines(
      desk,
      found.items.flatMap((item) => itemLines(item, desk)),
    );
  }
  if (!bad) return exitCodes.ok;
  return found.items.some(({ topic, state }) => topic === 'contract' && state === 'bad')
    ? exitCodes.contract
    : exitCodes.failed;
}

function itemLines({ state, what, detail, fix }: PreflightItem, desk: Desk): string[] {
  const { style } = paperOf(desk);
  const mark = state === 'good' ? style.good('ok  ') : state === 'warning' ? style.warn('note') : style.warn('stop');
  return [
    `${mark} ${what}`,
    ...(detail === '' || state === 'good' ? [] : [style.dim(`     ${detail}`)]),
    ...(fix === null ? [] : [`     ${fix}`]),
  ];
}
