import { expect, test } from 'vitest';

import type { Given } from '../../src/base/fact.ts';
import type { RunState } from '../../src/run/model.ts';
import { groupSize, runRows, runScene } from '../../src/window/runRows.ts';
import { runTooltip } from '../../src/window/runRowsTooltips.ts';
import { redrawOf, type TreeRow } from '../../src/window/treeRow.ts';
import {
  accepted,
  goneOn,
  history,
  opened,
  openedWall,
  optionFacts,
  stateOf,
  wholeRun,
  type At,
} from '../cli/history.ts';
import { quickest } from './quickest.ts';

const run = '20261130-181123-ab12';

/** Time of a hand-written history, at an active time in ms. */
const at = (active: number): Given => ({ wall: openedWall + active, mono: 1000 + active, boot: 'b', active });

const state = (...facts: readonly At[]): RunState => stateOf(history(...facts));

const rowsOf = (of: RunState, active: number): readonly TreeRow[] =>
  runRows({ run, scene: runScene(of, at(active)) }, [{ run, shown: true }]);

/** A tree as a person sees it: indented lines of icon, label and description. */
const seen = (rows: readonly TreeRow[], depth = 0): string[] =>
  rows.flatMap(({ icon, label, description, children }) => [
    `${'  '.repeat(depth)}[${icon.id}] ${label}${description === '' ? '' : ` | ${description}`}`,
    ...seen(children, depth + 1),
  ]);

const submitted = (when: number, id: string, option: number, agent: 'A' | 'B'): At => [
  when,
  {
    type: 'experiment.submitted',
    data: {
      id,
      option,
      agent,
      attempt: 1,
      note: null,
      reported: null,
      captured: { snapshot: 's', contentHash: `h-${id}`, files: 1, bytes: 10 },
    },
  },
];
const evaluating = (when: number, id: string): At => [
  when,
  { type: 'evaluation.starting', data: { id, nonce: `n-${id}`, kind: 'evaluate' } },
];

test('a run that is over: options, handoffs with what they ended, and the review', () => {
  expect(seen(rowsOf(state(...wholeRun()), 65_000))).toEqual([
    '[pass-filled] houses | e5 0.3 by bob · finished',
    '  [check] 1 · ada | 2/2 · cap · best 0.4, improved the record · 19 s',
    '    [arrow-circle-up] e1 | 0.5 · new record · ridge',
    '    [circle-slash] e2 | rejected, invalid: row 3 is empty',
    '    [arrow-circle-up] e3 | 0.4 · new record',
    '  [arrow-swap] Handoff 1 → 2 | 0.41 s · 2 processes ended',
    '    [check] ada ended',
    '    [check] Settled | after 0.10 s · every submission is decided',
    '    [check] Processes gone | after 0.20 s',
    '    [check] Clean | after 0.30 s',
    '    [check] bob started | after 0.41 s · with an empty context',
    '    [check] First output | after 0.50 s',
    '    [circle-slash] python train.py | ended at the handoff · pid 100 · ran 5 s',
    '    [circle-slash] python train.py | ended at the handoff · pid 101 · ran 5 s',
    '  [check] 2 · bob | 2/2 · cap · best 0.3, improved the record · 19 s',
    '    [pass] e4 | 0.45 · a tree',
    '    [arrow-circle-up] e5 | 0.3 · new record',
    '  [arrow-swap] Handoff 2 → 3 | 0.60 s',
    '    [check] bob ended',
    '    [check] Settled | after 0.10 s · every submission is decided',
    '    [check] Processes gone | after 0.15 s',
    '    [check] Clean | after 0.20 s',
    '    [check] ada started | after 0.60 s · with an empty context',
    '    [check] First output | after 0.90 s',
    '  [check] 3 · ada | 1/2 · budget · best 0.35 · 9 s',
    '    [pass] e6 | 0.35',
    '  [arrow-swap] Into the Final Review | 1.00 s · 1 process ended',
    '    [check] ada ended',
    '    [check] Settled | after 0.10 s · every submission is decided',
    '    [check] Processes gone | after 0.20 s',
    '    [check] Clean | after 0.30 s',
    '    [check] bob started | after 1.00 s · with an empty context',
    '    [circle-slash] python train.py | ended at the handoff · pid 100 · ran 5 s',
    '  [law] Final Review | chosen · e5 by bob',
    '    [law] Nominated e5 | best of all',
    '    [check-all] Final e5 | selected by the reviewer bob · best of all',
  ]);
});

const working: readonly At[] = [
  [0, opened()],
  [0, { type: 'controller.started', data: { pid: 1, fence: 1, version: 'v', boot: 'b', gapMs: 0 } }],
  optionFacts.open(1000, 1, 'A'),
  optionFacts.starting(1500, 1),
  optionFacts.started(2000, 1),
];

test('experiments that are judged show for how long', () => {
  const now = state(
    ...working,
    submitted(10_000, 'e1', 1, 'A'),
    evaluating(12_000, 'e1'),
    submitted(13_000, 'e2', 1, 'A'),
  );
  expect(seen(rowsOf(now, 20_500))).toEqual([
    '[beaker] houses | exploring',
    '  [play-circle] 1 · ada | 0/2 · at work',
    '    [loading~spin] e1 | being evaluated · 8 s',
    '    [clock] e2 | waits · 7 s',
  ]);
});

test('what a person should know of beside the sessions stands at the end, the latest first', () => {
  const noticed = (level: 'info' | 'warning', text: string) =>
    ({ type: 'run.noticed', data: { level, code: 'asleep', text } }) as const;
  const begun = [0, opened()] as const;
  const seenWith = (...facts: readonly At[]): string[] =>
    seen(rowsOf(state(begun, optionFacts.open(1, 1, 'A'), ...facts), 10)).filter((line) => /Notices|:\d\d/.test(line));
  expect(seenWith()).toEqual([]);
  expect(seenWith([5, noticed('info', 'the machine slept for 1 h')])).toEqual([
    '  [info] Notices | the machine slept for 1 h',
    `    [info] ${new Date(openedWall + 5).toLocaleString()} | the machine slept for 1 h`,
  ]);
  const both = seenWith([5, noticed('info', 'first')], [7, noticed('warning', 'second')]);
  expect(both.map((line) => line.replace(/ \| .*/, ''))[0]).toBe('  [warning] Notices');
  expect(both.map((line) => line.replace(/.* \| /, ''))).toEqual(['second', 'second', 'first']);
});

test('a handoff is seen as it happens, stage by stage', () => {
  const stages: readonly At[] = [
    optionFacts.ending(30_000, 1, 'handoff'),
    optionFacts.reaped(30_200, 1, 1),
    optionFacts.settled(30_300, 1),
    optionFacts.clean(30_400, 1),
    optionFacts.closed(30_500, 1, 'handoff'),
    optionFacts.open(30_500, 2, 'B'),
    optionFacts.starting(30_510, 2),
    optionFacts.started(30_900, 2),
  ];
  const handoffAfter = (reached: number): string[] => {
    const [first] = rowsOf(state(...working, ...stages.slice(0, reached)), 32_000);
    return seen(first?.children.filter(({ context }) => context === 'handoff') ?? []);
  };
  expect(handoffAfter(0)).toEqual([]);
  expect(handoffAfter(1)).toEqual([
    '[sync] Handoff 1 → 2 | settling · 2 s',
    '  [check] ada ended',
    '  [circle-outline] Now | settling',
  ]);
  expect(handoffAfter(4)).toEqual([
    '[sync] Handoff 1 → 2 | starting bob · 2 s · 1 process ended',
    '  [check] ada ended',
    '  [check] Settled | after 0.30 s · every submission is decided',
    '  [check] Processes gone | after 0.20 s',
    '  [check] Clean | after 0.40 s',
    '  [circle-outline] Now | starting bob',
    '  [circle-slash] python train.py | ended at the handoff · pid 100 · ran 5 s',
  ]);
  expect(handoffAfter(8)[0]).toBe('[arrow-swap] Handoff 1 → 2 | 0.90 s · 1 process ended');
});

test('a session that is ended by a stop hands over to nobody', () => {
  const stopping = state(
    ...working,
    [29_000, { type: 'run.stopping', data: { by: 'kim' } }],
    optionFacts.ending(30_000, 1, 'stopped'),
  );
  expect(seen(rowsOf(stopping, 31_000))).toEqual([
    '[beaker] houses | exploring',
    '  [sync] 1 · ada | 0/2 · being ended · 28 s',
    '    [dash] No experiment yet',
  ]);
});

test('where the experiments are used up, the handoff leads into the review', () => {
  const last = state(
    [0, opened({ budgets: { experiments: 1 } })],
    ...working.slice(1),
    ...accepted(10_000, { id: 'e1', option: 1, agent: 'A', score: 0.5 }),
    optionFacts.ending(11_000, 1, 'budget'),
  );
  expect(rowsOf(last, 12_000)[0]?.children.map(({ label, description }) => [label, description])).toEqual([
    ['1 · ada', '1/2 · handing over · best 0.5, improved the record · 9 s'],
    ['Into the Final Review', 'settling · 1 s'],
  ]);
});

test('what is folded out while it goes on stays so when more of it comes; a handoff that is over folds itself up', () => {
  const shape = (...facts: readonly At[]): unknown =>
    rowsOf(state(...working, ...facts), 40_000)[0]?.children.map(({ id, expand, children }) => [
      id.slice(run.length + 1),
      expand,
      children.length,
    ]);
  expect(shape()).toEqual([['option-1', 'expanded', 1]]);
  expect(shape(submitted(9000, 'e1', 1, 'A'))).toEqual([['option-1', 'expanded', 1]]);
  expect(shape(optionFacts.ending(30_000, 1, 'handoff'))).toEqual([
    ['option-1', 'expanded', 1],
    ['handoff-now-1', 'expanded', 2],
  ]);
  expect(
    shape(
      optionFacts.ending(30_000, 1, 'handoff'),
      optionFacts.closed(30_500, 1, 'handoff'),
      optionFacts.open(30_500, 2, 'B'),
      optionFacts.starting(30_510, 2),
      optionFacts.started(30_900, 2),
    ),
  ).toEqual([
    ['option-1', 'collapsed', 1],
    ['handoff-1', 'collapsed', 2],
    ['option-2', 'expanded', 1],
  ]);
});

test('a pause is seen in the run and in its session; one that needs a person looks like it', () => {
  const asked = state(...working, [
    5000,
    { type: 'run.paused', data: { reason: 'requested', detail: 'paused by kim', by: 'kim' } },
  ]);
  expect(seen(rowsOf(asked, 5000))).toEqual([
    '[debug-pause] houses | paused',
    '  [debug-pause] 1 · ada | 0/2 · paused',
    '    [dash] No experiment yet',
  ]);
  const failed = state(...working, [
    5000,
    { type: 'run.paused', data: { reason: 'disk_low', detail: '1 GB left', by: 'hma' } },
  ]);
  expect(seen(rowsOf(failed, 5000))[0]).toBe('[warning] houses | paused: disk low');
});

test('blind tasks show what was reported, labelled so, and never a score', () => {
  const blind = state(
    [0, opened({ terms: { feedback: 'blind' } })],
    ...working.slice(1),
    submitted(9000, 'e1', 1, 'A'),
    [
      10_000,
      { type: 'experiment.accepted', data: { id: 'e1', option: 1, score: 0.123_45, verdictAt: 10_000, flags: [] } },
    ],
    [
      11_000,
      {
        type: 'experiment.submitted',
        data: {
          id: 'e2',
          option: 1,
          agent: 'A',
          attempt: 1,
          note: 'cv',
          reported: 0.4,
          captured: { snapshot: 's', contentHash: 'h2', files: 1, bytes: 10 },
        },
      },
    ],
    [
      12_000,
      {
        type: 'experiment.accepted',
        data: { id: 'e2', option: 1, score: 0.543_21, verdictAt: 12_000, flags: ['out_of_range'] },
      },
    ],
  );
  const scene = runScene(blind, at(20_000));
  const rows = rowsOf(blind, 20_000);
  expect(seen(rows)).toEqual([
    '[beaker] houses | exploring',
    '  [play-circle] 1 · ada | 2/2 · at work · best reported 0.4, improved the record',
    '    [pass] e1 | nothing reported',
    '    [warning] e2 | reported 0.4 · new record · out of range · cv',
  ]);
  const everything =
    JSON.stringify(rows) +
    ['e1', 'e2', 'option-1'].map((id) => runTooltip(scene, { id: `${run}/${id}` } as TreeRow)).join('');
  expect(everything).not.toContain('0.12345');
  expect(everything).not.toContain('0.54321');
});

test('an option whose attempts fail says when it is tried again, and a review without a nomination why', () => {
  const failing = state(
    ...working,
    optionFacts.ended(9000, 1, {
      failure: { reason: 'usage_limit', detail: 'try later' },
      retryAt: 70_000,
      counts: true,
    }),
  );
  expect(seen(rowsOf(failing, 10_000))[1]).toBe(
    '  [play-circle] 1 · ada | 0/2 · usage limit: another attempt in 1 min 00 s',
  );
  const skipped = state(
    ...working,
    optionFacts.ending(30_000, 1, 'stopped'),
    optionFacts.closed(30_500, 1, 'stopped'),
    [30_600, { type: 'run.stopping', data: { by: 'kim' } }],
    [30_600, { type: 'exploration.ended', data: { reason: 'stopped' } }],
    [30_700, { type: 'review.closed', data: { outcome: 'skipped', detail: 'the run was stopped' } }],
  );
  expect(seen(rowsOf(skipped, 31_000)).slice(-2)).toEqual([
    '  [circle-slash] Final Review | skipped · the run was stopped',
    '    [dash] No nomination',
  ]);
});

test('rows have what menus and screen readers need', () => {
  const [first] = rowsOf(state(...wholeRun()), 65_000);
  const [option, handoff] = first?.children ?? [];
  expect({ ...option, children: [] }).toEqual({
    id: `${run}/option-1`,
    label: '1 · ada',
    description: '2/2 · cap · best 0.4, improved the record · 19 s',
    icon: { id: 'check' },
    context: 'option session',
    spoken: 'Option 1 by ada, cap reached, 2/2 accepted, 19 s, best 0.4, improved the record',
    expand: 'collapsed',
    children: [],
    candidate: null,
    session: { kind: 'option', number: 1 },
    command: null,
    marks: [],
  });
  expect(option?.children[0]).toMatchObject({
    candidate: 'e1',
    command: { command: 'hma.showFiles', arguments: ['e1'] },
  });
  expect(option?.children[1]).toMatchObject({
    candidate: null,
    command: null,
    spoken: 'Experiment e2, rejected, invalid: row 3 is empty',
  });
  expect(handoff?.spoken).toBe('Handoff from option 1 to 2, took 0.41 s, 2 processes ended');
});

test('tooltips tell the whole story, and nothing that agents wrote becomes markup', () => {
  const note = '![x](https://evil.example/a.png) <b>bold</b> `code` [run](command:hma.stop)';
  const told = state(...working, ...accepted(10_000, { id: 'e1', option: 1, agent: 'A', score: 0.5, note }));
  const tooltip = runTooltip(runScene(told, at(20_000)), { id: `${run}/e1` } as TreeRow);
  expect(tooltip).toContain('**Experiment e1** accepted, 0\\.5');
  expect(tooltip).toContain(String.raw`\!\[x\]\(https\:\/\/evil\.example\/a\.png\)`);
  expect(tooltip).not.toMatch(/[^\\]\[run/);
  expect(tooltip).not.toContain('<b>');
});

test('the run that this one goes on from stands first, and a click shows it', () => {
  const [first] = runRows({ run: 'x', scene: runScene(state(...goneOn()), at(1000)) }, [])[0]?.children ?? [];
  expect(first).toMatchObject({
    label: 'Goes on from',
    description: expect.stringMatching(/^2026-1[12]-\d\d \d\d:11 · 5 candidates came over$/),
    command: { command: 'hma.chooseRun', arguments: [run] },
  });
});

test('other runs of the folder stand at the end, the shown one marked; a run that can’t be read yet is starting', () => {
  const other = '20261129-080000-cd34';
  const rows = runRows({ run, scene: null }, [
    { run, shown: true },
    { run: other, shown: false },
  ]);
  expect(rows.map(({ label, description, expand }) => [label, description, expand])).toEqual([
    [expect.stringMatching(/^2026-1[12]-\d\d \d\d:11$/), 'starting', 'none'],
    ['All Runs', '2', 'collapsed'],
  ]);
  expect(rows[1]?.children[1]).toMatchObject({
    id: `past/${other}`,
    description: other,
    command: { command: 'hma.chooseRun', arguments: [other] },
  });
  expect(runRows(null, [])).toEqual([]);
});

/** An uncapped run whose one option has very many candidates. */
const long = (candidates: number): At[] => [
  [0, opened({ terms: { policy: { mode: 'alternate', cap: null, first: 'A', tellCap: false } } })],
  ...working.slice(1),
  ...Array.from({ length: candidates }, (_, index) =>
    accepted(10_000 + index, { id: `e${index + 1}`, option: 1, agent: 'A', score: 1 / (index + 1) }),
  ).flat(),
];

test('5,000 experiments: rows are made in time, and one event redraws one group', () => {
  const facts = long(5000);
  const before = state(...facts);
  const rows = rowsOf(before, 20_000);
  const [option] = rows[0]?.children ?? [];
  expect(option?.children.length).toBe(5000 / groupSize);
  expect(option?.children.every(({ children }) => children.length === groupSize)).toBe(true);

  const judged = state(...facts, submitted(20_000, 'e5001', 1, 'A'));
  const after = rowsOf(judged, 20_000);
  expect(redrawOf(rows, after)).toEqual(new Set([`${run}/option-1`])); // a new group; options with fewer groups redraw the last one only
  const ticked = rowsOf(judged, 21_000);
  expect(redrawOf(after, ticked)).toEqual(new Set([`${run}/e5001`])); // the option's time goes in steps
  const later = rowsOf(judged, 90_000);
  expect(redrawOf(later, rowsOf(judged, 91_000))).toEqual(new Set([`${run}/e5001`]));

  expect(quickest(() => rowsOf(judged, 100_000))).toBeLessThan(50);
});
