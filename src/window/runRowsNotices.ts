import { oneLine } from '../base/oneLine.ts';
import type { Notice, RunState } from '../run/model.ts';
import { row, type RowIcon, type TreeRow } from './treeRow.ts';

/** Notices that are shown one by one; older ones stay in the ledger. */
const mostNotices = 50;

/** What a person should know of beside the sessions: the machine slept, protected files were changed. Null while there is none. */
export function noticesRow({ run, notices }: RunState): TreeRow | null {
  const last = notices.at(-1);
  if (!last) return null;
  const worst = notices.some(({ level }) => level !== 'info');
  return row({
    ...{ id: `${run}/notices`, label: 'Notices', description: oneLine(last.text, 200) },
    icon: worst ? { id: 'warning', color: 'list.warningForeground' } : { id: 'info' },
    ...{ context: 'notices', expand: 'collapsed' },
    children: notices
      .slice(-mostNotices)
      .toReversed()
      .map((notice) => noticeRow(run, notice)),
  });
}

const noticeRow = (run: string, { seq, wall, level, text }: Notice): TreeRow =>
  row({
    ...{ id: `${run}/notice-${seq}`, label: new Date(wall).toLocaleString(), description: oneLine(text, 400) },
    ...{ icon: icons[level], context: 'notice' },
  });

const icons: Readonly<Record<Notice['level'], RowIcon>> = {
  info: { id: 'info' },
  warning: { id: 'warning', color: 'list.warningForeground' },
  person: { id: 'person', color: 'list.warningForeground' },
};
