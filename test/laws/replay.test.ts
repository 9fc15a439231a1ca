import { isDeepStrictEqual } from 'node:util';

import { describe, expect, it } from 'vitest';

import type { LedgerEvent } from '../../src/ledger/port.ts';
import { evolveRun } from '../../src/run/evolve.ts';
import type { RunState } from '../../src/run/model.ts';
import { counts, ofType, simulated, walk } from './traces.ts';

const { traces, hold } = simulated(1);
const stamp = { v: 1, wall: 1, mono: 1, active: 1 };

describe('the ledger and its state', () => {
  it('invariant 1: replay = live at every prefix, and every state is plain JSON', () => {
    for (const { events } of traces.filter((trace) => trace.events.length < 200).slice(0, 100)) {
      let live: RunState | null = null;
      let replayed: RunState | null = null;
      expect(events.length).toBeGreaterThan(1);
      for (const event of events) {
        live = evolveRun(live, event);
        replayed = evolveRun(
          JSON.parse(JSON.stringify(replayed)) as RunState | null,
          JSON.parse(JSON.stringify(event)) as LedgerEvent,
        );
        if (!isDeepStrictEqual(replayed, live)) expect(replayed).toStrictEqual(live);
      }
    }
  });

  it('no controller that starts again finds another state than the one that died, and no session a changed answer (invariants 1, 3, 5)', () => {
    hold(({ breaches }) => expect(breaches).toStrictEqual([]));
    expect(counts(traces.map(({ state }) => String(state.controller.starts > 1)))['true']).toBeGreaterThan(80);
  });

  it('unknown events are ignored wherever they stand: only `seq` moves', () => {
    hold((trace) =>
      walk(trace, (event, _, state) => {
        const after = evolveRun(state, {
          ...stamp,
          seq: event.seq + 1,
          type: 'weather.changed',
          data: { id: 'e1', option: 1 },
        });
        const { seq, ...rest } = after ?? state;
        const { seq: before, ...kept } = state;
        if (seq !== before + 1 || Object.entries(rest).some(([key, value]) => value !== kept[key as keyof typeof kept]))
          expect(after).toStrictEqual({ ...state, seq: before + 1 });
      }),
    );
  });

  it('an event before the run is opened makes no state, and a second opening changes nothing', () => {
    const [opened, started] = traces[0]?.events ?? [];
    if (!opened || !started) throw new Error('no events');
    expect(evolveRun(null, started)).toBeNull();
    const state = evolveRun(null, opened);
    expect(evolveRun(state, { ...opened, seq: 2 })).toBe(state);
  });

  it('invariant 1: what was decided is decided: a second decision, a late evaluation and events about nobody change nothing', () => {
    hold(({ state, events }) => {
      const decided = [...ofType(events, 'experiment.accepted'), ...ofType(events, 'experiment.rejected')];
      const id = decided[0]?.data.id ?? 'e99';
      const strangers: { type: string; data: unknown }[] = [
        ...decided.map(({ type, data }) => ({ type, data })),
        { type: 'experiment.accepted', data: { id, option: 1, score: 999, verdictAt: 1, flags: [] } },
        { type: 'experiment.rejected', data: { id, option: 1, code: 'late', reason: '', score: null } },
        { type: 'evaluation.ended', data: { id, nonce: 'n1', verdict: { kind: 'scored', score: 1 }, at: 1 } },
        { type: 'experiment.accepted', data: { id: 'e999', option: 1, score: 999, verdictAt: 1, flags: [] } },
        {
          type: 'option.closed',
          data: { option: 99_999, closure: 'natural', endedItself: true, workspaceSnapshot: null },
        },
        {
          type: 'attempt.ended',
          data: {
            session: { kind: 'option', number: 99_999 },
            attempt: 1,
            exit: null,
            endedItself: true,
            failure: null,
            retryAt: null,
            counts: false,
          },
        },
        { type: 'candidate.graded', data: { id: 'e999', nonce: 'n', result: { kind: 'graded', grade: 1 } } },
      ];
      let after: RunState | null = state;
      for (const { type, data } of strangers) after = evolveRun(after, { ...stamp, seq: state.seq, type, data });
      expect(after).toStrictEqual(state);
    });
  });

  it('invariant 1: every id that was told is one experiment for ever; no accepted one is lost, changed or counted twice', () => {
    hold((trace) => {
      const { state, events, told } = trace;
      const ids = state.experiments.map(({ id }) => id);
      expect(ids).toStrictEqual(ofType(events, 'experiment.submitted').map(({ data }) => data.id));
      expect(new Set(ids).size).toBe(ids.length);
      for (const one of told) expect(ids).toContain(one.split(' ')[1]);
      const accepted = ofType(events, 'experiment.accepted').map(({ data }) => data.id);
      expect(state.archive.map(({ id }) => id)).toStrictEqual(accepted);
      expect(state.archive.map(({ order }) => order)).toStrictEqual(accepted.map((_, index) => index + 1));
      expect(state.options.flatMap((option) => option.accepted)).toStrictEqual(accepted);
      expect(state.experiments.flatMap((e) => (e.state === 'accepted' ? [e.id] : [])).toSorted()).toStrictEqual(
        accepted.toSorted(),
      );
      expect(state.experiments.filter((e) => e.state !== 'accepted' && e.state !== 'rejected')).toStrictEqual([]);
      walk(trace, (_, before, after) => {
        for (const [index, candidate] of before.archive.entries()) {
          const now = after.archive[index];
          if (now !== candidate && !isDeepStrictEqual({ ...now, grade: null }, { ...candidate, grade: null }))
            expect(now).toStrictEqual(candidate);
        }
      });
    });
    expect(traces.flatMap(({ state }) => state.archive).length).toBeGreaterThan(900);
  });

  it('every run ends in a world that goes on, and no step repeats without time passing', () => {
    hold(({ ended, longestTurn, state }) => {
      expect(ended).toBe('finished');
      expect(longestTurn).toBeLessThan(20);
      expect({ phase: state.phase, pause: state.pause, running: state.clock.running }).toStrictEqual({
        phase: 'finished',
        pause: null,
        running: false,
      });
    });
  });
});
