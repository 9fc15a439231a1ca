import { expect, it } from 'vitest';

import type { DiskSample } from '../../src/run/disk.ts';
import { evolveRun } from '../../src/run/evolve.ts';
import type { RunState } from '../../src/run/model.ts';
import { accepted, after, opened, starting, submitted } from '../laws/aState.ts';

it('the first reason to end exploration stands, except a person’s stop', () => {
  const ending = (reason: 'deadline' | 'requested') =>
    ({ type: 'exploration.ending', data: { reason, by: 'x' } }) as const;
  const state = after([5, ending('requested')], [9, ending('deadline')]);
  expect([state.explorationEnding, state.explorationEndingAt]).toStrictEqual(['requested', 5]);
  expect(after([5, ending('deadline')], [9, { type: 'run.stopping', data: { by: 'mina' } }]).explorationEnding).toBe(
    'stopped',
  );
});

it('a second decision about an experiment changes nothing', () => {
  const state = after([1, opened(1), starting(1), submitted(1, 1), accepted(1, 1, 5)]);
  const again = [
    accepted(1, 1, 9),
    { type: 'experiment.rejected', data: { id: 'e1', option: 1, code: 'late', reason: '', score: null } } as const,
  ];
  const fold = (from: RunState | null, { type, data }: (typeof again)[number]) =>
    evolveRun(from, { seq: state.seq, v: 1, wall: 1, mono: 2, active: 2, type, data });
  expect(again.reduce<RunState | null>(fold, state)).toStrictEqual(state);
});

it('only the run’s own selection ends the review; a person’s word ends nothing', () => {
  const selected = (by: 'person' | 'fallback') =>
    ({
      type: 'candidate.selected',
      data: { candidate: 'e1', by, who: 'x', reason: 'y', gradesRevealed: false },
    }) as const;
  const one = [
    1,
    opened(1),
    submitted(1, 1),
    accepted(1, 1),
    { type: 'exploration.ended', data: { reason: 'deadline' } },
  ] as const;
  expect([
    after(one).phase,
    after(one, [2, selected('person')]).phase,
    after(one, [2, selected('fallback')]).phase,
  ]).toStrictEqual(['reviewing', 'reviewing', 'concluding']);
});

it('keeps the last hundred notices', () => {
  const notice = (text: string) => ({ type: 'run.noticed', data: { level: 'info', code: 'asleep', text } }) as const;
  const { notices } = after([1, ...Array.from({ length: 103 }, (_, index) => notice(`n${index}`))]);
  expect([notices.length, notices[0]?.text, notices.at(-1)?.text]).toStrictEqual([100, 'n3', 'n102']);
});

it('a notice takes back what holds no more, and nothing else', () => {
  const notice = (code: 'disk_forecast' | 'disk_forecast_over' | 'asleep', takesBack?: 'disk_forecast') =>
    ({
      type: 'run.noticed',
      data: { level: 'info', code, text: code, ...(takesBack === undefined ? {} : { takesBack }) },
    }) as const;
  const { notices } = after([
    1,
    notice('disk_forecast'),
    notice('asleep'),
    notice('disk_forecast_over', 'disk_forecast'),
  ]);
  expect(notices.map(({ code }) => code)).toStrictEqual(['asleep', 'disk_forecast_over']);
  expect(Object.keys(notices.at(-1) ?? {}).toSorted()).toStrictEqual(['code', 'level', 'seq', 'text', 'wall']);
});

it('of the looks at the disks the first and the latest sixty stay', () => {
  const bytes = { workspace: 0, snapshots: 0, sessions: 0, evaluations: 0, ledger: 0 };
  const look = (ledger: number) =>
    ({ type: 'run.measured', data: { bytes: { ...bytes, ledger }, places: [] } }) as const;
  const { disk } = after([7, ...Array.from({ length: 70 }, (_, index) => look(index))]);
  const of = (sample: DiskSample | undefined): unknown => [sample?.active, sample?.bytes.ledger];
  expect([disk.length, of(disk[0]), of(disk[1]), of(disk.at(-1))]).toStrictEqual([61, [7, 0], [7, 10], [7, 69]]);
});
