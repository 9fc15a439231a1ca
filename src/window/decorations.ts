import * as vscode from 'vscode';

const scheme = 'hma-mark';

/** The address by which a row gets its marks. It names no file: all that is to be shown stands in it. */
export const markUri = (id: string, marks: readonly string[]): vscode.Uri =>
  vscode.Uri.from({ scheme, path: `/${id}`, query: marks.join(',') });

/** Letter and colour of each mark, the weightiest first. */
const looks: readonly {
  readonly mark: string;
  readonly badge?: string;
  readonly words: string;
  readonly color: string;
}[] = [
  { mark: 'hidden', words: 'Hidden by you', color: 'disabledForeground' },
  { mark: 'disqualified', badge: 'D', words: 'Disqualified: it must not be chosen', color: 'disabledForeground' },
  { mark: 'final', badge: 'F', words: 'The final candidate', color: 'charts.green' },
  { mark: 'nominated', badge: 'N', words: 'Nominated by the reviewer', color: 'charts.purple' },
  { mark: 'record', badge: 'R', words: 'The record: the best so far', color: 'charts.yellow' },
  { mark: 'standing', badge: 'S', words: 'The standing candidate: the latest', color: 'charts.blue' },
];

/** Marks rows at their right edge: D disqualified, F final, N nominated, R record, S standing; at most two letters, the weightiest first. */
export function registerDecorations(): vscode.Disposable {
  return vscode.window.registerFileDecorationProvider({
    provideFileDecoration(uri) {
      if (uri.scheme !== scheme) return undefined;
      const marks = uri.query.split(',');
      const found = looks.filter(({ mark }) => marks.includes(mark));
      const letters = found.flatMap(({ badge }) => badge ?? []).slice(0, 2);
      const words = found.map((look) => look.words).join(' · ');
      const dim = found.find(({ mark }) => mark === 'hidden' || mark === 'disqualified');
      return new vscode.FileDecoration(
        letters.length > 0 ? letters.join('') : undefined,
        words,
        dim && new vscode.ThemeColor(dim.color),
      );
    },
  });
}
