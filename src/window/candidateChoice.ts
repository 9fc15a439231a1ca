import * as vscode from 'vscode';

import type { Candidate } from '../archive/model.ts';
import { authorName, sayOption } from '../archive/origin.ts';
import { candidateIds } from './archivePlace.ts';
import type { WindowRoom } from './room.ts';
import { joined, sayShown } from './runWords.ts';

/**
 * Ids of the candidates that a command was called with: a row and the rows selected with it, or ids; without any the person chooses one of
 * those that fit. Of several that are selected those that fit are meant. Empty where nothing was chosen.
 */
export async function candidatesMeant(
  { model }: Pick<WindowRoom, 'model'>,
  given: readonly unknown[],
  asking: { readonly title: string; readonly fits?: (candidate: Candidate) => boolean },
): Promise<readonly string[]> {
  // VS Code hands a tree's command the row it was called on and all that are selected
  const selected = given.slice(1).find((one): one is unknown[] => Array.isArray(one) && one.length > 0);
  const several = candidateIds(selected ?? given);
  const { state } = model;
  const fitting = (state?.archive ?? []).filter(asking.fits ?? (() => true)).toReversed();
  const meant = asking.fits ? several.filter((id) => fitting.some((one) => one.id === id)) : several;
  if (meant.length > 0) return meant;
  if (!state || fitting.length === 0 || several.length > 0) {
    const none = state?.archive.length ? 'there is no candidate to which this applies' : 'there is no candidate yet';
    void vscode.window.showInformationMessage(`HMA: ${none}.`);
    return [];
  }
  const rows = fitting.map((candidate) => ({
    label: candidate.id,
    description: joined(
      sayShown(state, candidate),
      `${authorName(candidate, state.terms.agents)}, ${sayOption(candidate)}`,
    ),
    ...(candidate.note === null ? {} : { detail: candidate.note }),
  }));
  const chosen = await vscode.window.showQuickPick(rows, {
    title: asking.title,
    placeHolder: 'Which candidate?',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen ? [chosen.label] : [];
}
