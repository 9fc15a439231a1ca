import { standing } from '../../../src/archive/order.ts';
import { finalCandidate } from '../../../src/review/selection.ts';
import type { Workbench } from '../../hosts/workbench.ts';
import { recorded } from '../../journeys/sampleRun.ts';
import { type Studio, usual } from './studio.ts';

/** The review page and the archive of a finished run, up to a selection and where it can be applied. */
export async function shootDeciding({ camera, home }: Studio, window: Workbench, workspace: string): Promise<void> {
  const state = recorded({ workspace, home })!.state;
  const final = finalCandidate({ ...state.terms, ...state })?.candidate;
  const other = state.archive.findLast(({ id }) => id !== final && id !== standing(state.archive)?.id)!.id;
  const page = window.webview();
  const cell = (id: string) => page.locator(`.grid .row[data-row="${id}"] .cell-candidate`);
  await window.command('Notifications: Clear All Notifications');
  await window.command('HMA: Open the Final Review');
  await cell(other).waitFor();
  await window.command('View: Hide Panel');
  await window.page.mouse.move(0, 0);
  await camera.take('finished', window);
  await cell(final!).click();
  await camera.take('review-details', window);
  await window.page.setViewportSize({ ...usual, height: 960 }); // for the README: from what won to the table
  await page.locator('main').evaluate('scrollTo(0, 0)');
  await camera.picture('review', window);
  await window.page.setViewportSize(usual);

  const mark = (id: string) => page.locator(`.grid .row[data-row="${id}"] [data-cell="mark"]`);
  await mark(other).click();
  await mark(final!).click();
  await page.getByRole('button', { name: /^Compare/ }).click();
  await page.locator('.compare').waitFor();
  await page.locator('main').evaluate('scrollTo(0, 0)');
  await camera.take('review-compare', window);
  await page.getByRole('button', { name: 'Back to the chart' }).click();

  await window.command('View: Toggle Primary Side Bar Visibility');
  await window.page.setViewportSize({ width: usual.width / 2, height: usual.height / 2 });
  const toTop = () => page.locator('main').evaluate('scrollTo(0, 0)');
  await toTop();
  await camera.take('review-zoom', window);
  await window.page.setViewportSize({ width: 480, height: usual.height });
  await toTop();
  await camera.take('review-narrow', window);
  await window.page.setViewportSize(usual);
  await window.command('View: Toggle Primary Side Bar Visibility');

  await shootCandidates(camera, window, { final: final!, other });
  await window.command('HMA: Open the Final Review');
  await cell(other).click();
  await page.getByRole('button', { name: /^Select as final/ }).click();
  await page.getByRole('textbox').last().fill('Almost as good, and I can explain it.');
  await page.locator('.ask .primary').click();
  await window.view('Run').row(`Final ${other}`).waitFor();
  await camera.take('selected', window);
  await window.status(`final ${other}`).click();
  await window.quick.shown();
  await camera.take('status-menu-over', window);
  await window.quick.cancel();
  await window.command('HMA: Apply the Final Candidate…');
  await window.quick.row(/A New Git Branch/).waitFor();
  await camera.take('apply', window);
  await window.quick.cancel();
}

async function shootCandidates(
  camera: Studio['camera'],
  window: Workbench,
  { final, other }: { readonly final: string; readonly other: string },
): Promise<void> {
  const tree = window.view('Candidates');
  await tree.inline(final, 'Star');
  await window.choose(tree.row('e6'), 'Hide');
  await window.command('HMA: Sort Candidates…');
  await window.quick.pick(/Score/);
  await window.page.mouse.move(0, 0);
  await camera.take('candidates', window);
  await camera.take('candidate-tooltip', window, tree.row(final));
  await window.command('HMA: Filter Candidates…');
  await window.quick.shown();
  await camera.take('candidates-filter', window);
  await window.quick.cancel();
  await tree.row(other).click({ modifiers: ['Control'] });
  await tree.row(final).click({ modifiers: ['Control'] });
  await window.choose(tree.row(final), 'Compare Selected Candidates');
  await window.page.locator('.monaco-diff-editor:visible').first().waitFor();
  await camera.take('diff', window);
}
