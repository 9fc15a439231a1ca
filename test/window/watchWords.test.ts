import { describe, expect, test } from 'vitest';

import type { Given } from '../../src/base/fact.ts';
import type { RunState } from '../../src/run/model.ts';
import { budgetEntries, readBudget, type BudgetField } from '../../src/window/controlsBudget.ts';
import { menuEntries, reviewConfirmation, stopConfirmation } from '../../src/window/controlsWords.ts';
import { tellingOf, weightier } from '../../src/window/notificationsDecide.ts';
import type { Presence, RunChange } from '../../src/window/runModel.ts';
import { needsPerson, presenceWords, sayElapsed } from '../../src/window/runWords.ts';
import { statusWords } from '../../src/window/statusBarWords.ts';
import { workspaceRows, type WorkspaceFacts } from '../../src/window/workspaceTreeRows.ts';
import { accepted, history, opened, openedWall, optionFacts, stateOf, wholeRun, type At } from '../cli/history.ts';

const at = (active: number): Given => ({ wall: openedWall + active, mono: 1000 + active, boot: 'b', active });
const state = (...facts: readonly At[]): RunState => stateOf(history(...facts));

const working: readonly At[] = [
  [0, opened()],
  [0, { type: 'controller.started', data: { pid: 1, fence: 1, version: 'v', boot: 'b', gapMs: 0 } }],
  optionFacts.open(1000, 1, 'A'),
  optionFacts.starting(1500, 1),
  optionFacts.started(2000, 1),
  ...accepted(10_000, { id: 'e1', option: 1, agent: 'A', score: 0.5 }),
];
const judging: At = [
  12_000,
  {
    type: 'experiment.submitted',
    data: { id: 'e2', option: 1, agent: 'A', attempt: 1, note: null, reported: null, captured: null },
  },
];
const paused = (reason: 'requested' | 'agent_failed', by = 'kim'): At => [
  20_000,
  { type: 'run.paused', data: { reason, detail: 'ada: login expired', by } },
];

const status = (of: RunState | null, presence: Presence = 'live', active = 60_000) =>
  statusWords(of, { given: at(active), presence, why: 'none came back' });

describe('the status bar', () => {
  test('phase, option, agent, accepted of the cap, time left', () => {
    expect(status(state(...working))).toEqual({
      text: '$(beaker) option 1 ada · 1/2 · 8 min left',
      spoken: 'HMA, houses: exploring, option 1, ada, 1/2 accepted, 8 min left. Choose what can be done now.',
      warns: false,
    });
  });
  test('the icon turns only while something is being decided', () => {
    expect(status(state(...working, judging))?.text).toBe('$(loading~spin) option 1 ada · 1/2 · 8 min left');
    expect(status(state(...working, optionFacts.ending(13_000, 1, 'handoff')))?.text).toBe(
      '$(beaker) handoff · 8 min left',
    );
  });
  test('it warns only when a person is needed', () => {
    expect(status(state(...working, paused('requested')), 'live', 20_000)).toMatchObject({
      text: '$(debug-pause) paused · option 1 ada · 1/2 · 8 min left',
      warns: false,
    });
    expect(status(state(...working, paused('agent_failed', 'hma')), 'live', 20_000)).toMatchObject({
      text: '$(warning) paused: agent failed · option 1 ada · 1/2 · 8 min left',
      warns: true,
    });
    expect(status(state(...working), 'lost')).toMatchObject({ text: '$(warning) HMA: no controller', warns: true });
    expect(status(state(...working), 'away')).toMatchObject({
      text: '$(beaker) option 1 ada · 1/2 · 8 min left · controller away',
      warns: false,
    });
  });
  test('without a run it isn’t there; after its end it says what is final', () => {
    expect(status(null, 'none')).toBeNull();
    expect(status(null, 'connecting')?.text).toBe('$(beaker) HMA: starting');
    expect(status(state(...wholeRun()), 'over')?.text).toBe('$(check-all) HMA: final e5 0.3 by bob');
  });
});

test('elapsed times: seconds, then minutes; coarse ones change once a minute', () => {
  expect([999, 59_999, 60_000, 605_000, 3_900_000].map((ms) => sayElapsed(ms))).toEqual([
    '0 s',
    '59 s',
    '1 min 00 s',
    '10 min',
    '1 h 05 min',
  ]);
  expect([59_999, 119_000].map((ms) => sayElapsed(ms, true))).toEqual(['59 s', '1 min']);
});

describe('words about the controller', () => {
  const of = (presence: Presence, run: RunState | null = state(...working)) =>
    presenceWords(run, { presence, why: presence === 'lost' ? 'the keeper gave up' : '' });
  test('each presence has words, or none when all is well', () => {
    expect(of('live')).toBe('');
    expect(of('over')).toBe('');
    expect(of('none', null)).toBe('');
    expect(of('connecting', null)).toBe('The run is starting.');
    expect(of('away')).toBe(
      'The controller is away and is expected back by itself. Agents and evaluations go on meanwhile; what is shown is from before.',
    );
    expect(of('lost')).toBe(
      'No controller looks after this run any more (the keeper gave up). Nothing is lost. Resume brings it back; the reason is in the controller’s log.',
    );
  });
  test('a pause says whose it is and what to do', () => {
    expect(of('live', state(...working, paused('requested')))).toBe(
      'Paused by kim. The clock stands and the session is frozen until somebody chooses Resume.',
    );
    expect(of('live', state(...working, paused('agent_failed', 'hma')))).toBe(
      'Paused: ada: login expired. When that is put right, choose Resume.',
    );
  });
  test('what waits for a person', () => {
    const run = state(...working);
    expect([
      needsPerson(run, 'live'),
      needsPerson(run, 'away'),
      needsPerson(run, 'lost'),
      needsPerson(state(...wholeRun()), 'lost'),
    ]).toEqual([false, false, true, false]);
    expect([
      needsPerson(state(...working, paused('requested')), 'live'),
      needsPerson(state(...working, paused('agent_failed')), 'live'),
    ]).toEqual([false, true]);
  });
});

describe('notifications', () => {
  const all = { handoff: true, paused: true, reviewReady: true, finished: true };
  const change = (from: number, ...facts: readonly At[]): RunChange => {
    const events = history(...facts);
    return { before: null, state: stateOf(events), events: events.slice(from) };
  };
  const pausing = change(working.length, ...working, paused('agent_failed', 'hma'));

  test('a pause that needs a person, with what can be done', () => {
    expect(tellingOf(pausing, { sinceWall: openedWall, notify: all })).toEqual({
      kind: 'paused',
      warns: true,
      text: 'The run has paused and needs you: ada: login expired',
      actions: [
        { title: 'Resume', command: 'hma.resume' },
        { title: 'Show Log', command: 'hma.showLog' },
      ],
    });
  });
  test('a login that expired can be renewed from where it is told, and from the menu of what can be done', () => {
    const failure = { reason: 'login_expired', detail: 'run /login' } as const;
    const facts = [...working, optionFacts.ended(15_000, 1, { failure, counts: true }), paused('agent_failed', 'hma')];
    const told = tellingOf(change(facts.length - 1, ...facts), { sinceWall: openedWall, notify: all });
    expect(told?.actions).toEqual([
      { title: 'Sign In…', command: 'hma.signIn', argument: 'command' },
      { title: 'Resume', command: 'hma.resume' },
      { title: 'Show Log', command: 'hma.showLog' },
    ]);
    const scene = { presence: 'live', trusted: true, hasContract: true } as const;
    const commands = menuEntries({ ...scene, state: state(...facts) }).map(({ command }) => command);
    expect(commands.slice(0, 2)).toEqual(['hma.signIn', 'hma.resume']);
  });
  test('what a person should do is told as long as it holds', () => {
    const warned: At = [
      20_000,
      { type: 'run.noticed', data: { level: 'person', code: 'disk_forecast', text: 'the disk will be full' } },
    ];
    const over: At = [
      21_000,
      {
        type: 'run.noticed',
        data: { level: 'info', code: 'disk_forecast_over', takesBack: 'disk_forecast', text: 'it will not' },
      },
    ];
    const told = (...facts: readonly At[]) =>
      tellingOf(change(working.length, ...working, ...facts), { sinceWall: openedWall, notify: all });
    expect(told(warned)).toMatchObject({ kind: 'paused', text: 'The run needs you: the disk will be full' });
    expect(told(warned, over)).toBeNull();
  });
  test('history is no news, and a setting that is off is obeyed', () => {
    expect(tellingOf(pausing, { sinceWall: openedWall + 20_001, notify: all })).toBeNull();
    expect(tellingOf(pausing, { sinceWall: openedWall, notify: { ...all, paused: false } })).toBeNull();
  });
  test('whoever pauses isn’t told; that the boundary they waited for has come they are', () => {
    const told = (by: string) =>
      tellingOf(change(working.length, ...working, paused('requested', by)), { sinceWall: openedWall, notify: all });
    expect(told('kim')).toBeNull();
    expect(told('person')?.text).toBe('The run has paused at the handoff, as it was asked to.');
  });
  test('of all that a whole run holds only its end is told; without that, the review; without that, the last handoff', () => {
    const run = change(0, ...wholeRun());
    const told = (notify: typeof all) => tellingOf(run, { sinceWall: openedWall, notify })?.text;
    expect(told(all)).toBe('The run is over. e5 is the final candidate, selected by the reviewer bob.');
    expect(told({ ...all, finished: false })).toBe('The final review is ready: bob nominated e5 (chosen).');
    expect(told({ ...all, finished: false, reviewReady: false })).toBe(
      'Option 2 by bob ended (cap). Option 3 begins: ada, with an empty context.',
    );
  });
  test('the weightier of two; the later of equals', () => {
    const one = { kind: 'handoff', warns: false, text: 'a', actions: [] } as const;
    const later = { ...one, text: 'b' };
    const end = { ...one, kind: 'finished' } as const;
    expect([
      weightier(null, one),
      weightier(one, later),
      weightier(end, one),
      weightier(one, end),
      weightier(one, null),
    ]).toEqual([one, later, end, end, one]);
  });
});

describe('what can be done now', () => {
  const menu = (run: RunState | null, more: { presence?: Presence; trusted?: boolean; hasContract?: boolean } = {}) =>
    menuEntries({ state: run, presence: 'live', trusted: true, hasContract: true, ...more }).map(({ command }) =>
      command.slice('hma.'.length),
    );
  const looks = ['showTerminal', 'chooseRun', 'showLog'];
  test('in a session, in a pause, at the end, and when nobody looks after the run', () => {
    expect(menu(state(...working))).toEqual([
      'pause',
      'pauseAfter',
      'handOff',
      'beginReview',
      'editBudget',
      'stop',
      'openReview',
      'applyFinal',
      ...looks,
    ]);
    expect(menu(state(...working, paused('requested')))).toEqual([
      'resume',
      'handOff',
      'beginReview',
      'editBudget',
      'stop',
      'openReview',
      'applyFinal',
      ...looks,
    ]);
    expect(menu(state(...working), { presence: 'lost' })).toEqual(['resume', 'openReview', 'applyFinal', ...looks]);
    expect(menu(state(...wholeRun()), { presence: 'over' })).toEqual([
      'openReview',
      'applyFinal',
      'reevaluate',
      'gradeAll',
      'start',
      'check',
      ...looks,
    ]);
  });
  test('a pause that is asked for at the next handoff can be taken back', () => {
    const asked = state(...working, [20_000, { type: 'run.pauseAfter', data: { wanted: true, by: 'kim' } }]);
    expect(menu(asked).slice(0, 3)).toEqual(['pause', 'resume', 'handOff']);
  });
  test('without a run; without a contract; in a folder that isn’t trusted nothing is started', () => {
    expect(menu(null, { presence: 'none' })).toEqual(['start', 'check']);
    expect(menu(null, { presence: 'none', hasContract: false })).toEqual(['setUp']);
    expect(menu(state(...working, paused('requested')), { trusted: false })).not.toContain('resume');
    expect(menu(null, { presence: 'none', trusted: false })).toEqual(['check']);
  });
});

describe('confirmations', () => {
  test('a stop says what is lost', () => {
    expect(stopConfirmation(state(...working, judging))).toEqual({
      message: 'Stop the run?',
      detail:
        'The session of ada in option 1 is ended where it is. 1 experiment being evaluated is cancelled. There is no final review, and the run can’t be resumed. 1 candidate and the workspace stay.',
      button: 'Stop the Run',
    });
  });
  test('beginning the review asks only when a session is cut off', () => {
    expect(reviewConfirmation(state(...working), at(60_000))?.detail).toBe(
      'The session of ada in option 1 is ended in mid-work; what it has submitted is still evaluated. 8 min of exploration are given up. With fewer than two candidates there is nothing to review, and the run ends.',
    );
    expect(reviewConfirmation(state(...working, optionFacts.ending(13_000, 1, 'cap')), at(60_000))).toBeNull();
  });
});

describe('budgets', () => {
  const now = state(...working);
  const read = (field: BudgetField, text: string, of = now) => readBudget(of, { field, text }, at(120_000));
  test('the values now, as they would be typed', () => {
    expect(budgetEntries(now).map(({ field, now: value, typed }) => [field, value, typed])).toEqual([
      ['totalMs', '10 min', '10m'],
      ['reviewMs', '1 min', '1m'],
      ['experiments', 'no limit, 1 accepted so far', 'none'],
      ['tokens', 'no limit, 0 used so far', 'none'],
      ['cost', 'no limit', 'none'],
      ['until', 'none', 'none'],
    ]);
  });
  test('in the review only its end can be moved', () => {
    const reviewing = state(...wholeRun().slice(0, -12));
    expect(reviewing.phase).toBe('reviewing');
    expect(budgetEntries(reviewing).map(({ field }) => field)).toEqual(['totalMs', 'until']);
  });
  test('a new value is read, or refused with a reason', () => {
    expect(read('totalMs', ' 1h30m ')).toEqual({ wish: { totalMs: 5_400_000 } });
    expect(read('totalMs', 'soon')).toEqual({ why: 'Write a duration, such as 90m, 6h or 1h30m.' });
    expect(read('totalMs', '90s')).toEqual({ why: "120 s are spent already: the total can't be less." });
    expect(read('reviewMs', '10m')).toEqual({ why: "A total of 600 s leaves no room for the review's 600 s." });
    expect(read('experiments', 'none')).toEqual({ wish: { experiments: null } });
    expect(read('tokens', '5M')).toEqual({ wish: { tokens: 5_000_000 } });
    expect(read('tokens', 'none')).toEqual({ wish: { tokens: null } });
    expect(read('tokens', '5MB')).toEqual({ why: 'Write a number of tokens, such as 5M or 200k, or none.' });
    expect(read('cost', '$20')).toEqual({ wish: { cost: 20 } });
    expect(read('cost', '0')).toEqual({ why: 'Write an amount in US dollars, such as 20, or none.' });
    expect(read('experiments', '0')).toEqual({ why: 'Write a whole number from 1, or none.' });
    expect(read('until', '2026-02-30 10:00')).toEqual({
      why: 'Write a date and time, such as 2026-12-01 18:00, or none.',
    });
    expect(read('until', '2020-01-01 10:00')).toEqual({ why: 'The end must lie in the future.' });
  });
});

test('the workspace: whose turn, the evaluator, isolation with its limits, owner, GPUs, disk', () => {
  const run = state(...working);
  const facts: WorkspaceFacts = {
    state: run,
    contract: {
      agents: run.terms.agents,
      mode: 'alternate',
      first: 'A',
      evaluate: ['python', 'evaluate.py'],
      feedback: 'score',
      tier: 'bubblewrap',
    },
    owner: { run: run.run, host: 'box', pid: 42, released: false },
    live: true,
    otherVersion: null,
    gpus: [],
    free: 40e9,
    floor: 2e9,
    stateFolder: '/state',
    cannot: ['A kernel flaw would let it out.'],
  };
  const words = (of: WorkspaceFacts): unknown =>
    workspaceRows(of).map(({ label, description, children }) => [
      label,
      description,
      ...children.map((child) => `${child.label} | ${child.description}`),
    ]);
  expect(words(facts)).toEqual([
    ['Agents', 'ada ⇄ bob', 'ada | command · its turn now', 'bob | command'],
    ['Evaluator', 'python evaluate.py · agents see scores'],
    ['Isolation', 'bubblewrap · 1 limit', 'A kernel flaw would let it out. | '],
    ['Owner', 'this run’s controller · pid 42 · box'],
    ['GPUs', 'none'],
    ['Disk', '40.0 GB free · a run pauses below 2.0 GB'],
    ['State Folder', '/state'],
  ]);
  const looks = [40e9, 36e9].map((free, index) => ({
    active: index * 60_000,
    bytes: { workspace: index * 3e9, snapshots: 0, sessions: 0, evaluations: 0, ledger: 0 },
    places: [
      { path: '/data', holds: ['workspace' as const], free, freeFiles: null, floor: 2e9 },
      { path: '/', holds: ['state' as const, 'tmp' as const], free: 9e9, freeFiles: null, floor: 2e9 },
    ],
  }));
  const notice = { seq: 9, wall: 0, level: 'person', code: 'disk_forecast', text: 'soon full' } as const;
  expect(words({ ...facts, state: { ...run, disk: looks, notices: [notice] } })).toContainEqual([
    'Disk',
    '40.0 GB free · a run pauses below 2.0 GB',
    'Forecast | soon full',
    'Since the Start | the workspace +3.0 GB, others +1.0 GB',
    'the state folder and temporary files (/) | 9.0 GB free',
  ]);
  expect(words({ ...facts, otherVersion: '66df7e625cac2bec' })).toContainEqual([
    'Version',
    'the run goes on with the version of HMA that it began with · 66df7e62',
  ]);
  expect(workspaceRows({ ...facts, contract: null })).toEqual([]);
  expect(workspaceRows({ ...facts, owner: null }).find(({ label }) => label === 'Owner')?.description).toBe(
    'nobody: free for a run',
  );
});
