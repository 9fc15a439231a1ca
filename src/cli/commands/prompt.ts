import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

import { adapters } from '../../agents/adapters.ts';
import { presets } from '../../agents/presets.ts';
import { explorationPrompt, placeholders, reviewPrompt, type CandidateView } from '../../agents/prompts.ts';
import { explorationTemplate, reviewTemplate } from '../../agents/promptTemplates.ts';
import { failure, type Failure } from '../../client/failure.ts';
import { findRun, findWorkspace } from '../../client/lookup.ts';
import { runFiles, sessionFolderName } from '../../ledger/places.ts';
import { loadContract } from '../../task/load.ts';
import { formatMessages } from '../../task/messages.ts';
import type { Contract } from '../../task/model.ts';
import { fail, remark, say, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';

/** What `hma prompt` may be told. */
export interface PromptOptions {
  readonly review?: boolean;
  readonly template?: boolean;
  readonly session?: string;
  readonly run?: string;
}

/** `hma prompt`: what the agents of this folder's task will be told, what a session was told, or the built-in template. */
export async function prompt(desk: Desk, options: PromptOptions): Promise<number> {
  const kind = options.review ? 'review' : 'exploration';
  if (options.template) {
    await say(desk, kind === 'review' ? reviewTemplate : explorationTemplate);
    remark(
      desk,
      `hma: these names are filled in: ${placeholders[kind].map((name) => `{{${name}}}`).join(' ')}. Put your own text under prompts.${kind} in hma.yaml.`,
    );
    return exitCodes.ok;
  }
  if (options.session !== undefined || options.run !== undefined) return sentPrompt(desk, options);
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
  const filled = preview(kind, { contract: loaded.value.contract, workspace });
  if (!filled.ok) throw new Error(`the template was checked when it was read: ${JSON.stringify(filled.refusal)}`);
  await say(desk, filled.value);
  remark(
    desk,
    kind === 'review'
      ? 'hma: a preview, with two candidates made up for it. What a review was told: hma prompt --session review'
      : 'hma: a preview of the first session’s prompt. What a session was told: hma prompt --session 3',
  );
  return exitCodes.ok;
}

/** What a session of a run was told, as it was recorded before its start. */
async function sentPrompt(desk: Desk, { session = '1', run }: PromptOptions): Promise<number> {
  const place = findRun({ ...desk, run });
  if (!place.ok) return fail(desk, place.refusal, false);
  const number = /^[1-9]\d{0,5}$/.test(session) ? Number(session) : null;
  if (session !== 'review' && number === null) return fail(desk, badSession(session), false);
  const name = number === null ? ({ kind: 'review' } as const) : ({ kind: 'option', number } as const);
  const file = join(runFiles(place.value.folder).sessions, sessionFolderName(name), 'shown', 'prompt.md');
  if (!existsSync(file))
    return fail(
      desk,
      failure('notFound', 'no_session', {
        what: `run ${place.value.run} has no prompt of ${number === null ? 'a review' : `option ${number}`}: it has not begun`,
        fix: 'hma status lists the options.',
      }),
      false,
    );
  await say(desk, readFileSync(file, 'utf8'));
  return exitCodes.ok;
}

const badSession = (session: string): Failure =>
  failure('usage', 'bad_session', {
    what: `--session takes an option's number or review, not ${JSON.stringify(session)}`,
    fix: 'hma status lists the options.',
  });

function preview(kind: 'exploration' | 'review', given: { readonly contract: Contract; readonly workspace: string }) {
  const { contract, workspace } = given;
  const { totalMs, reviewMs } = contract.budgets;
  if (kind === 'exploration')
    return explorationPrompt({ ...given, leftMs: totalMs - reviewMs, standing: null, archived: 0, ended: [] });
  const example = (id: string, author: CandidateView['author'], option: number): CandidateView => ({
    ...{ id, author, option, score: option / 10 },
  });
  return reviewPrompt({
    contract,
    workspace,
    candidatesFolder: '/…/candidates',
    ballotFile: '/…/ballot.json',
    leftMs: reviewMs,
    ballot: [example('e1', 'you', 1), example('e2', 'peer', 2)],
  });
}
