import { expect, test } from 'vitest';

import { historyLines } from '../../src/cli/commands/log.ts';
import { plainOutput } from '../../src/base/plainOutput.ts';
import { sparkline, stackedBar } from '../../src/cli/render/bars.ts';
import { eventLines } from '../../src/cli/render/events.ts';
import { type Paper } from '../../src/cli/render/scene.ts';
import { sayBytes, sayChange, sayClock, sayLength, sayScore, sayShare } from '../../src/base/numbers.ts';
import { candidatesPage, statusPage, summaryPage } from '../../src/cli/render/pages.ts';
import { Screen } from '../../src/cli/render/screen.ts';
import { statusLine } from '../../src/cli/render/statusLine.ts';
import { colourStyle, plainStyle, styleFor } from '../../src/cli/render/style.ts';
import { fit, pad, table, widthOf, wrap } from '../../src/cli/render/text.ts';
import { accepted, goneOn, history, opened, openedWall, optionFacts as f, stateOf, wholeRun } from './history.ts';

const paper: Paper = { style: plainStyle, columns: 100 };

test('a whole run as its calm log', () => {
  expect(historyLines(history(...wholeRun()), paper)).toEqual([
    'houses  A ada ⇄ B bob',
    '  rmse, lower is better · cap 2 · 5 experiments in all · 10 min with 1 min for the review',
    "  isolation: bubblewrap (what it can't protect: hma status) · run 20261130-181123-ab12",
    '',
    `── option 1 · A ada ${'─'.repeat(80)}`,
    '  0:10.0  e1   accepted       0.5  ▄             first candidate  ridge',
    '  0:12.0  e2   rejected  invalid: row 3 is empty',
    '  0:20.0  e3   accepted       0.4  ▁█            new record −20 %',
    '  0:21.3  option 1 ended: cap · 2 accepted, 1 rejected · best 0.4 · 20.0 s',
    '',
    `── option 2 · B bob · handoff 0.41 s (2 processes ended) ${'─'.repeat(43)}`,
    '  0:30.0  e4   accepted      0.45  ▁█▅           12 % behind the record  a tree',
    '  0:40.0  e5   accepted       0.3  ▁▄▃█          new record −25 %',
    '  0:41.3  option 2 ended: cap · 2 accepted · best 0.3 · 19.7 s',
    '',
    `── option 3 · A ada · handoff 0.60 s ${'─'.repeat(63)}`,
    '  0:50.0  e6   accepted      0.35  ▁▄▃█▆         17 % behind the record',
    '  0:51.4  option 3 ended: budget · 1 accepted · best 0.35 · 9.70 s',
    '  0:51.5  exploration ends: the experiments are used up',
    '',
    `── final review · B bob looks at 5 candidates · handoff 1.00 s (1 process ended) ${'─'.repeat(19)}`,
    '  1:00.0  bob nominates e5: best of all',
    '  1:02.1  review: chosen',
    '  1:02.1  ★ e5 is the final candidate, by the reviewer bob',
    '            best of all',
    '  1:04.0  e5   graded by the hidden grader; hma reveal shows grades',
    '  1:05.0  the run is over: the experiments are used up',
  ]);
});

test('a run that goes on from another says so at its start, in its status and beside each candidate', () => {
  const own = accepted(2000, { id: 'e7', option: 1, agent: 'B', score: 0.25 });
  const facts = [...goneOn(), f.open(1000, 1, 'B'), f.starting(1100, 1), f.started(1200, 1), ...own];
  const log = historyLines(history(...facts), paper);
  expect(log[3]).toBe('  goes on from run 20261130-181123-ab12: 5 candidates came over · ada begins');
  expect(log.at(-1)).toBe('  0:02.0  e7   accepted      0.25  ▁▄▂▇▅█        new record −17 %');
  const state = stateOf(history(...facts));
  expect(candidatesPage(state, state.archive, { ...paper, columns: 120 }).map((line) => line.trimEnd())).toEqual([
    'id  author  option  of run                rmse  reported   grade                                  note',
    'e1  A ada        1  20261130-181123-ab12   0.5                                                    ridge',
    'e3  A ada        1  20261130-181123-ab12   0.4',
    'e4  bob          2  20261130-181123-ab12  0.45                                                    a tree',
    'e5  bob          2  20261130-181123-ab12   0.3            hidden',
    'e6  A ada        3  20261130-181123-ab12  0.35',
    'e7  B cat        1                        0.25                    so far final, record, standing',
  ]);
  const given = { active: 3000, wall: openedWall + 3000, mono: 4000, boot: '' };
  const page = statusPage(state, given, { runFolder: '/state/runs/x', live: true, paper });
  expect(page[1]).toBe('  goes on from run 20261130-181123-ab12: 5 candidates came over');
  expect(page.find((line) => line.startsWith('  1  B cat'))).toMatch(/^ {2}1 {2}B cat {2}… +1 +0 +0\.25 /);
});

test('the page at the end says who, why, how long and what next', () => {
  const page = summaryPage(stateOf(history(...wholeRun())), { runFolder: '/state/runs/x', live: false }, paper).join(
    '\n',
  );
  expect(page).toBe(`
── result ${'─'.repeat(90)}
  final     e5         0.3  by B bob in option 2 · grade hidden
            selected by the reviewer bob: best of all
  record    e5         0.3  by B bob in option 2 · grade hidden
  standing  e6        0.35  by A ada in option 3
  review    chosen
  scores    ▁▄▃█▆  5 candidates

  #  agent  ended   accepted  rejected  best    time  handoff
  1  A ada  cap            2         1   0.4  19.0 s        —
  2  B bob  cap            2         0   0.3  19.6 s   0.41 s
  3  A ada  budget         1         0  0.35  9.40 s   0.60 s

  time      ███▓▓▓▒▒░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ of 10 min
            █ ada 4.8 %   ▓ bob 4.9 %   ▒ start 0.3 %   ▒ between sessions 0.3 %
            ░ unused review 8.3 %   ░ unused exploration 81.4 %
  handoffs  p50 0.51 s · p95 0.59 s over 2; to the first output p50 0.70 s · p95 0.88 s

  run       /state/runs/x
  workspace /work/houses

  hma candidates                     all candidates, with scores and notes
  hma select e6 --reason "…"         choose another one; nothing is overwritten
  hma log --session 1                what the first session printed`);
});

test("a person's selection stands beside the run's own", () => {
  const events = history(...wholeRun(), [
    66_000,
    {
      type: 'candidate.selected',
      data: { candidate: 'e3', by: 'person', who: 'eve', reason: 'simpler', gradesRevealed: true },
    },
  ]);
  const page = summaryPage(stateOf(events), { runFolder: '/x', live: false }, paper).join('\n');
  expect(page).toContain('  final     e3         0.4  by A ada in option 1');
  expect(page).toContain('selected by eve: simpler');
  expect(page).toContain("the run's own selection was e5, by reviewer");
});

test('nothing is wider than the paper, coloured or not, whatever is on it', () => {
  const wild = history(
    ...wholeRun().slice(0, 6),
    ...accepted(9000, { id: 'e1', option: 1, agent: 'A', score: 0.5, note: '模型 '.repeat(60) }),
    [9500, { type: 'run.paused', data: { reason: 'agent_failed', detail: 'x'.repeat(300), by: 'hma' } }],
  );
  for (const columns of [20, 37, 60, 100, 200]) {
    for (const style of [plainStyle, colourStyle]) {
      const state = stateOf(wild);
      const lines = [
        ...historyLines(wild, { style, columns }),
        ...statusPage(
          state,
          { wall: openedWall, mono: 0, boot: '', active: 9500 },
          { runFolder: '/r'.repeat(80), live: false, paper: { style, columns } },
        ),
        ...summaryPage(stateOf(history(...wholeRun())), { runFolder: '/x', live: false }, { style, columns }),
        ...candidatesPage(state, state.archive, { style, columns }),
      ];
      // paths are whole, so that they can be copied
      const isPath = (line: string): boolean => /(?:\s|\u001b\[\d+m)(?:\/r|\/work\/houses)(?:\/|$)/.test(line);
      expect(lines.filter((line) => widthOf(line) > columns && !isPath(line))).toEqual([]);
      expect(lines.filter((line) => line.endsWith('/r'.repeat(80)))).toHaveLength(1);
    }
  }
});

test('control characters of agents never reach the terminal', () => {
  const events = history(
    [0, opened()],
    f.open(0, 1, 'A'),
    f.starting(0, 1),
    f.started(0, 1),
    ...accepted(900, { id: 'e1', option: 1, agent: 'A', score: 1, note: 'a\u001b]0;owned\u0007\u001b[2Jb\nc' }),
  );
  expect(historyLines(events, paper).join('')).not.toMatch(/[\u0000-\u001f\u007f]/);
  expect(plainOutput('\u001b[31mred\u001b[0m\r\nnext\u0007\u001b]0;title\u0007!\tend\u009b')).toBe('red\nnext!\tend');
});

test('failures, pauses and restarts in words', () => {
  const events = history(
    [0, opened({ tier: 'none', cannot: ['Agents can read everything that you can.'] })],
    [0, { type: 'controller.started', data: { pid: 1, fence: 1, version: 'v', boot: 'b', gapMs: 0 } }],
    f.open(0, 1, 'A'),
    f.starting(0, 1),
    f.ended(500, 1, {
      endedItself: false,
      failure: { reason: 'not_started', detail: 'ada is not installed' },
      retryAt: 1500,
      counts: true,
    }),
    f.starting(1500, 1, 2),
    f.started(1600, 1, 2),
    [2000, { type: 'run.paused', data: { reason: 'requested', detail: 'paused by eve', by: 'eve' } }],
    [2000, { type: 'run.resumed', data: { by: 'eve' } }],
    [2500, { type: 'controller.started', data: { pid: 2, fence: 2, version: 'v', boot: 'b', gapMs: 90_000 } }],
    [3000, { type: 'run.noticed', data: { level: 'person', code: 'login_held', text: 'log in again' } }],
    [4000, { type: 'run.stopping', data: { by: 'eve' } }],
  );
  expect(historyLines(events, paper).slice(3)).toEqual([
    '  Nothing is isolated: Agents can read everything that you can.',
    '',
    `── option 1 · A ada ${'─'.repeat(80)}`,
    '  0:00.5  attempt 1 failed (not started): ada is not installed; another attempt in 1.00 s',
    '  0:01.6  attempt 2 starts, with an empty context',
    '  0:02.0  paused by eve',
    '  0:02.0  goes on (eve)',
    "  0:02.5  the controller started again; 1 min 30 s in which nothing of the run lived don't count",
    '  0:03.0  ! log in again',
    '  0:04.0  eve stops the run',
  ]);
});

test('unknown events say nothing', () => {
  const [first] = history([0, opened()]);
  const state = stateOf([first!]);
  expect(
    eventLines({ before: state, event: { ...first!, seq: 2, type: 'weather.changed', data: {} }, after: state }, paper),
  ).toEqual([]);
});

test('the status line names phase, session, counts and time left', () => {
  const exploring = stateOf(history(...wholeRun().slice(0, 9)));
  expect(statusLine(exploring, { wall: openedWall, mono: 0, boot: '', active: 12_000 }, paper)).toBe(
    'exploring · option 1 A ada · 1/2 accepted · 1/5 in all · 1 experiment being judged · 8 min 48 s left',
  );
  expect(
    statusLine(stateOf(history(...wholeRun())), { wall: openedWall, mono: 0, boot: '', active: 65_000 }, paper),
  ).toBe('finished');
});

test('the time left is not cut off a status line where something else can be left out', () => {
  const exploring = stateOf(history(...wholeRun().slice(0, 9)));
  const given = { wall: openedWall, mono: 0, boot: '', active: 12_000 };
  expect(statusLine(exploring, given, { ...paper, columns: 90 })).toBe(
    'exploring · option 1 A ada · 1/2 accepted · 1/5 in all · 8 min 48 s left',
  );
  expect(statusLine(exploring, given, { ...paper, columns: 40 })).toBe('exploring · option 1 A ada · 1/2 accept…');
});

test('the time of a session that still works goes on between events', () => {
  const page = (active: number): string =>
    statusPage(
      stateOf(history(...wholeRun().slice(0, 6))),
      { wall: openedWall, mono: 0, boot: '', active },
      { runFolder: '/r', live: true, paper },
    ).join('\n');
  expect(page(12_000)).toMatch(/1 {2}A ada {2}… .* 10\.0 s /);
  expect(page(72_000)).toMatch(/1 {2}A ada {2}… .* 1 min 10 s /);
});

test('bars: higher is better whatever the direction', () => {
  expect(sparkline({ direction: 'maximize' }, [0, 0.5, 1])).toBe('▁▅█');
  expect(sparkline({ direction: 'minimize' }, [0, 0.5, 1])).toBe('█▅▁');
  expect(sparkline({ direction: 'minimize' }, [2, 2])).toBe('▄▄');
  expect(sparkline({ direction: 'minimize' }, [])).toBe('');
  expect(sparkline({ direction: 'maximize' }, [Number.NaN, 1, 2])).toBe('▁▁█');
});

test('a stacked bar has exactly its cells, and shows every part', () => {
  const part = (amount: number, fill: string) => ({ amount, fill, colour: (text: string) => text });
  expect(stackedBar([part(1, 'a'), part(0, 'b'), part(1, 'c')], 10)).toBe('aaaaaccccc');
  expect(stackedBar([part(9999, 'a'), part(1, 'b'), part(1, 'c')], 10)).toBe('aaaaaaaabc');
  expect(stackedBar([], 10)).toBe('');
});

test.each([
  [sayScore(0.1 + 0.2), '0.3'],
  [sayScore(-1234567), '−1234570'],
  [sayScore(1e-9), '1e−9'],
  [sayChange(0.5, 0.4), '−20 %'],
  [sayChange(1, 1.005), '+0.50 %'],
  [sayChange(0, 3), '+3'],
  [sayChange(-2, -1), '+50 %'],
  [sayClock(3240), '0:03.2'],
  [sayClock(3_753_000), '1:02:33'],
  [sayLength(410), '0.41 s'],
  [sayLength(59_940), '59.9 s'],
  [sayLength(61_000), '1 min 1 s'],
  [sayLength(3_900_000), '1 h 05 min'],
  [sayShare(1, 0), '—'],
  [sayShare(51.1, 100), '51.1 %'],
  [sayBytes(812), '812 B'],
  [sayBytes(1_430_000), '1.4 MB'],
])('numbers for people: %s', (said, expected) => {
  expect(said).toBe(expected);
});

test('widths, cuts and breaks', () => {
  expect(widthOf('模型')).toBe(4);
  expect(widthOf(colourStyle.bold('abc'))).toBe(3);
  expect(fit('abcdef', 4)).toBe('abc…');
  expect(fit('模型模型', 4)).toBe('模…');
  expect(fit(colourStyle.good('abcdef'), 4)).toBe('\u001b[32mabc…\u001b[0m');
  expect(pad('ab', 4, 'right')).toBe('  ab');
  expect(wrap('one two three four', 9)).toEqual(['one two', 'three', 'four']);
  expect(wrap('one two three four five six', 9, { most: 2 })).toEqual(['one two', 'three …']);
  expect(
    table({
      rows: [
        ['a', 'n'],
        ['bb', '10'],
      ],
      right: new Set([1]),
      columns: 80,
    }),
  ).toEqual(['a    n', 'bb  10']);
});

test('colours: a terminal has them, NO_COLOR and pipes do not, FORCE_COLOR decides', () => {
  expect(styleFor(true, {})).toBe(colourStyle);
  expect(styleFor(true, { NO_COLOR: '1' })).toBe(plainStyle);
  expect(styleFor(true, { TERM: 'dumb' })).toBe(plainStyle);
  expect(styleFor(false, {})).toBe(plainStyle);
  expect(styleFor(false, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(colourStyle);
  expect(styleFor(true, { FORCE_COLOR: '0' })).toBe(plainStyle);
});

test('the bottom line lives on terminals only, and leaves no trace in the log', () => {
  const run = (isTTY: boolean, moves?: boolean): string => {
    let written = '';
    const screen = new Screen({ isTTY, columns: 40, write: (text) => void (written += text) }, moves);
    screen.print(['one']);
    screen.setBottom('working');
    screen.print(['two']);
    screen.setBottom('');
    return written;
  };
  expect(run(false)).toBe('one\ntwo\n');
  expect(run(true, false)).toBe('one\ntwo\n'); // a dumb terminal
  expect(run(true)).toBe('one\nworking\r\u001b[Ktwo\nworking\r\u001b[K');
});
