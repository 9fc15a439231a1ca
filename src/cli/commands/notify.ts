import { realpathSync } from 'node:fs';

import { adapters } from '../../agents/adapters.ts';
import { presets } from '../../agents/presets.ts';
import { failure } from '../../client/failure.ts';
import { findWorkspace } from '../../client/lookup.ts';
import { notify } from '../../controller/notifier.ts';
import { loadContract } from '../../task/load.ts';
import { formatMessages } from '../../task/messages.ts';
import { fail, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';

/** `hma notify --test`: sends one notification as the contract says, so that it is known to arrive before the night. */
export async function testNotify(desk: Desk, options: { readonly test?: boolean }): Promise<number> {
  if (!options.test)
    return fail(
      desk,
      failure('usage', 'no_test', {
        what: 'hma notify sends nothing by itself; runs do',
        fix: 'Write hma notify --test. Who is told: the key notify in hma.yaml.',
      }),
      false,
    );
  const workspace = findWorkspace(desk.cwd) ?? realpathSync(desk.cwd);
  const loaded = await loadContract({
    workspace,
    given: { wall: desk.clock.now().wall, adapters: Object.keys(adapters), presets },
  });
  if (!loaded.ok) {
    desk.stderr.write(formatMessages(loaded.refusal.messages));
    return fail(
      desk,
      failure('contract', 'contract_errors', { what: 'hma.yaml has errors', fix: 'Correct them first.' }),
      false,
    );
  }
  const { notify: how } = loaded.value.contract;
  if (how.kind === 'none') {
    await sayLines(desk, ['hma.yaml tells nobody: notify is none. Add notify: https://… or a command.']);
    return exitCodes.ok;
  }
  const why = await notify(how, {
    kind: 'needs_person',
    run: 'test',
    workspace,
    text: 'This is a test: it arrived.',
    wall: desk.clock.now().wall,
  });
  const where = how.kind === 'url' ? how.url : how.command.join(' ');
  if (why !== null)
    return fail(
      desk,
      failure('failed', 'not_delivered', {
        what: `the notification did not arrive: ${why}`,
        fix: `Check notify in hma.yaml: ${where}`,
      }),
      false,
    );
  await sayLines(desk, [`A test notification was handed to ${where}.`]);
  return exitCodes.ok;
}
