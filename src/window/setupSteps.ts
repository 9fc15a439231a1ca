import * as vscode from 'vscode';

/** How a step was left. */
export type StepEnd<Item> =
  | { readonly how: 'chosen'; readonly items: readonly Item[] }
  | { readonly how: 'back' }
  | { readonly how: 'left' };

/** One step of a guided set-up. */
export interface Step<Item extends vscode.QuickPickItem> {
  readonly title: string;
  readonly step: number;
  readonly totalSteps: number;
  readonly placeholder: string;
  readonly items: readonly Item[];
  readonly many?: { readonly selected: readonly Item[]; readonly least: number; readonly most: number };
}

/** Asks one step of several: with its number, a way back, and with `many` how many are needed. */
export function askStep<Item extends vscode.QuickPickItem>(given: Step<Item>): Promise<StepEnd<Item>> {
  const pick = vscode.window.createQuickPick<Item>();
  Object.assign(pick, {
    title: given.title,
    step: given.step,
    totalSteps: given.totalSteps,
    placeholder: given.placeholder,
    ignoreFocusOut: true,
    matchOnDescription: true,
  });
  pick.items = given.items;
  if (given.many) {
    pick.canSelectMany = true;
    pick.selectedItems = given.many.selected;
  }
  if (given.step > 1) pick.buttons = [vscode.QuickInputButtons.Back];
  return new Promise<StepEnd<Item>>((resolve) => {
    let end: StepEnd<Item> = { how: 'left' };
    pick.onDidTriggerButton(() => {
      end = { how: 'back' };
      pick.hide();
    });
    pick.onDidAccept(() => {
      const items = [...pick.selectedItems];
      const { least = 1, most = 1 } = given.many ?? {};
      if (items.length < least || items.length > most) {
        pick.title = `${given.title} — choose ${least === most ? least : `${least} to ${most}`}`;
        return;
      }
      end = { how: 'chosen', items };
      pick.hide();
    });
    pick.onDidHide(() => {
      pick.dispose();
      resolve(end);
    });
    pick.show();
  });
}
