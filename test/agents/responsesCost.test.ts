import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { adapters } from '../../src/agents/adapters.ts';
import type { AttemptPlace, Response } from '../../src/agents/port.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hma-cost-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const rounds = 2000;
/** A tool's result after each response: 2000 of them make 50 MB. */
const padding = 'x'.repeat(25_000);

/** A night's transcript of each harness: where it lies and one round of it. */
const nights: Readonly<Record<string, { file: (place: AttemptPlace) => string; round: (index: number) => string }>> = {
  'claude-code': {
    file: ({ home: at, sessionId }) => join(at, '.claude/projects/-w', `${sessionId}.jsonl`),
    round: (index) =>
      [
        {
          type: 'assistant',
          timestamp: '2026-11-30T16:13:51.267Z',
          message: {
            ...{ id: `msg_${index}`, model: 'claude-opus-5', stop_reason: 'tool_use', content: [] },
            usage: { input_tokens: 10, cache_read_input_tokens: 2000, output_tokens: 40 },
          },
        },
        { type: 'user', message: { content: [{ type: 'tool_result', content: padding }] } },
      ]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
  },
  command: {
    file: ({ output }) => output,
    round: (index) =>
      `${JSON.stringify({ type: 'hma.response', id: `r${index}`, model: 'm', uncachedInput: 2010, output: 40 })}\n${padding}\n`,
  },
};

test.each(Object.keys(nights))(
  'a night of 2000 responses in 50 MB is read in bounded time, in small steps, and once: %s',
  async (name) => {
    const place: AttemptPlace = {
      ...{ home, cwd: '/w', output: join(home, 'output.log'), sessionId: 'b0c1', startedAt: 0 },
    };
    const night = nights[name];
    if (!night) throw new Error(name);
    const file = night.file(place);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, Array.from({ length: rounds }, (_, index) => night.round(index)).join(''));
    const reader = adapters[name]?.responses?.(place);
    if (!reader) throw new Error(`${name} tells no responses`);
    const timed = async (last: boolean): Promise<{ told: readonly Response[]; ms: number; lagMs: number }> => {
      const delay = monitorEventLoopDelay({ resolution: 5 });
      delay.enable();
      const began = performance.now();
      const told = await reader.next(last);
      const ms = performance.now() - began;
      delay.disable();
      return { told, ms, lagMs: delay.max / 1e6 };
    };
    const whole = await timed(false);
    const idle = await timed(false);
    appendFileSync(file, night.round(rounds));
    const one = await timed(true);
    const told = [...whole.told, ...idle.told, ...one.told];
    console.log(
      `${name}: 50 MB in ${Math.round(whole.ms)} ms (longest step ${Math.round(whole.lagMs)} ms), then ${idle.ms.toFixed(1)} ms, one more in ${one.ms.toFixed(1)} ms`,
    );
    expect(new Set(told.map(({ id }) => id)).size).toBe(told.length);
    expect(told).toHaveLength(rounds + 1);
    expect(told.reduce((sum, { output }) => sum + output, 0)).toBe(40 * (rounds + 1));
    // measured on two cores with a load of 16: 0.4–0.75 s in steps of at most 75 ms, then 2–4 ms
    expect(whole.ms).toBeLessThan(10_000);
    expect(whole.lagMs).toBeLessThan(1_000);
    expect(idle.ms).toBeLessThan(250);
    expect(one.ms).toBeLessThan(500);
  },
);
