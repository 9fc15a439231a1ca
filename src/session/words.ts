import { oneLine } from '../base/oneLine.ts';
import type { AgentArchive, AgentCandidate, AgentStatus, Receipt, Remaining } from '../protocol/agent.ts';

/** A length of time in words, ms in: `45 s`, `12 min`, `1 h 05 min`; never more precise than an agent can use. */
function sayTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

function sayRemaining({ timeMs, experiments, inSession }: Remaining): string {
  const counts = [
    ...(typeof inSession === 'number' ? [`${inSession} accepted experiments in this session`] : []),
    ...(experiments === null
      ? []
      : [`${experiments} more ${experiments === 1 ? 'experiment' : 'experiments'} in the run`]),
  ];
  return [`Left: ${sayTime(timeMs)}`, ...counts].join(', ');
}

/** A receipt in words. A blind task's receipt holds no score, so none is printed. */
export function sayReceipt(receipt: Receipt): string {
  switch (receipt.outcome) {
    case 'pending': {
      const place = receipt.place > 1 ? `, place ${receipt.place} in the queue` : '';
      return `${receipt.id}: received, evaluating${place}; ask with: hma result ${receipt.id}\n`;
    }
    case 'accepted': {
      const score = receipt.score === undefined ? '' : `, score ${receipt.score}`;
      const improved = receipt.improved === undefined ? '' : receipt.improved ? ' (a new record)' : ' (no new record)';
      return `${receipt.id}: accepted${score}${improved}. ${sayRemaining(receipt.remaining)}.\n`;
    }
    case 'rejected':
      return `${receipt.id}: rejected (${receipt.code}): ${receipt.reason.replace(/\.$/, '')}. It does not count. ${sayRemaining(receipt.remaining)}.\n`;
  }
}

/** The state of the session's run, as far as a session may know it. */
export function sayStatus(status: AgentStatus): string {
  const role = status.role === 'review' ? 'the final review' : `session ${status.option ?? ''}`.trim();
  const lines = [
    `You are ${status.agent}, in ${role}.${status.paused ? ' The run is paused: nothing can be submitted until it goes on.' : ''}`,
    `${sayRemaining(status.remaining)}.`,
    ...(status.role === 'explore'
      ? [
          `Submit within ${sayTime(status.lastSafeSubmitMs)} to be judged in time.`,
          `Accepted in this session: ${status.accepted}.${status.pending.length > 0 ? ` Being judged: ${status.pending.join(', ')}.` : ''}`,
        ]
      : ['Nominate one candidate: hma nominate ID --reason "…"']),
    status.standing === null
      ? 'There is no candidate yet.'
      : `Standing candidate (the latest): ${status.standing}. All: hma archive`,
  ];
  return `${lines.join('\n')}\n`;
}

/** The archive as a table; without a score column in blind tasks. */
export function sayArchive(archive: AgentArchive): string {
  if (archive.candidates.length === 0)
    return 'No candidates yet. `hma archive get initial` lists the files at the start.\n';
  const { name, direction } = archive.metric;
  const blind = archive.feedback === 'blind';
  const head = ['id', 'by', 'session', ...(blind ? [] : [name]), 'reported', 'files', 'note'];
  const row = (one: AgentCandidate): string[] => [
    one.id + (one.id === archive.standing ? '*' : ''),
    one.author,
    `${one.option}${one.run === undefined ? '' : ' (earlier run)'}`,
    ...(blind ? [] : [String(one.score ?? '')]),
    one.reported === null ? '' : String(one.reported),
    String(one.files),
    oneLine(one.note ?? ''),
  ];
  const rows = [head, ...archive.candidates.map(row)];
  const widths = head.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const lines = rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const legend = `* standing (the latest); ${blind ? 'scores are not shown in this task' : `${name}: ${direction === 'maximize' ? 'higher' : 'lower'} is better`}`;
  return `${lines.join('\n')}\n${legend}\n`;
}
