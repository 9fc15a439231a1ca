import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';

import type { SaidLine } from '../../src/agents/port.ts';
import { attemptFolderOf } from '../../src/ledger/places.ts';
import { OutputLog } from '../../src/machines/outputLog.ts';
import { OutputText, sessionsOf, shownSessions, type SessionView } from '../../src/window/terminalScript.ts';
import { SessionTail } from '../../src/window/terminalTail.ts';
import { history, opened, optionFacts as option, stateOf } from '../cli/history.ts';

const made: { [Symbol.dispose](): void }[] = [];
afterEach(() => made.splice(0).forEach((one) => one[Symbol.dispose]()));

describe('text of an output', () => {
  const shown = (...pieces: readonly string[]): string => {
    const text = new OutputText();
    return pieces.map((piece) => text.take(Buffer.from(piece, 'latin1'))).join('');
  };
  test('a line feed alone gets its carriage return, also across pieces', () => {
    expect(shown('a\nb\r\nc\rd\n')).toBe('a\r\nb\r\nc\rd\r\n');
    expect(shown('a\r', '\nb', '\n')).toBe('a\r\nb\r\n');
    expect(shown('\n\n')).toBe('\r\n\r\n');
  });
  test('characters that are cut in two come out whole', () => {
    expect(shown('\xc3', '\xa9\n')).toBe('é\r\n');
  });
  test('however it is cut, the text is the same, and escape sequences are kept', () => {
    const part = fc.constantFrom('\r', '\n', '\u001b[31m', 'x', 'é', '😀');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), fc.array(fc.nat(60), { maxLength: 6 }), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(''));
        const at = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const text = new OutputText();
        const pieces = at.slice(1).map((end, index) => text.take(bytes.subarray(at[index], end)));
        expect(pieces.join('')).toBe(parts.join('').replace(/(?<!\r)\n/g, '\r\n'));
      }),
    );
  });
});

test('sessions are named for option and agent; the latest with a process comes first', () => {
  const state = stateOf(
    history(
      [0, opened()],
      option.open(1, 1, 'A'),
      option.starting(2, 1),
      option.started(3, 1),
      option.ended(4, 1),
      option.ending(5, 1, 'cap'),
      option.reaped(6, 1),
      option.settled(7, 1),
      option.clean(8, 1),
      option.closed(9, 1, 'cap'),
      option.open(10, 2, 'B'),
    ),
  );
  expect(sessionsOf(state).map(({ title, ended, slot }) => [title, ended, slot])).toEqual([
    ['1 · ada', 'cap', 'A'],
    ['2 · bob', null, 'B'],
  ]);
  expect(shownSessions(state).map(({ title }) => title)).toEqual(['1 · ada']);
});

describe('a session that is followed', () => {
  /** A session with folders of attempts on disk, and all that its terminal was written. */
  function aSession() {
    const runFolder = mkdtempSync(join(tmpdir(), 'hma-terminal-'));
    made.push({ [Symbol.dispose]: () => rmSync(runFolder, { recursive: true, force: true }) });
    const name = { kind: 'option', number: 3 } as const;
    const attempt = (number: number, state: 'running' | 'ended' = 'running') =>
      ({ number, nonce: `n${number}`, startingAt: 0, state }) as SessionView['attempts'][number];
    const view = (attempts: readonly SessionView['attempts'][number][], ended: string | null = null): SessionView => ({
      name,
      title: '3 · bob',
      slot: 'B',
      attempts,
      ended,
    });
    const output = (number: number, bytes?: number): OutputLog => {
      const folder = attemptFolderOf(runFolder, name, number);
      mkdirSync(folder, { recursive: true });
      if (bytes !== undefined) writeFileSync(join(folder, 'spec.json'), JSON.stringify({ outputBytes: bytes }));
      return new OutputLog(folder, { started: 0, ...(bytes === undefined ? {} : { bytes }) });
    };
    const exit = (number: number): void =>
      writeFileSync(join(attemptFolderOf(runFolder, name, number), 'exit.json'), '{}');
    const written: string[] = [];
    let ends = 0;
    const follow = (session: SessionView, how: { raw?: boolean } = {}): SessionTail => {
      const tail = new SessionTail({
        runFolder,
        session,
        ...how,
        write: (text) => written.push(text),
        onEnd: () => (ends += 1),
      });
      made.push({ [Symbol.dispose]: () => tail.dispose() });
      return tail;
    };
    // eslint-disable-next-line no-control-regex
    const text = (): string => written.join('').replace(/\u001b(?:\[[?0-9]*[a-z]|[78])/g, '');
    const shows = async (what: string): Promise<void> =>
      await vi.waitFor(() => expect(text()).toContain(what), { timeout: 5000, interval: 10 });
    return { runFolder, attempt, view, output, exit, follow, text, shows, written, ends: () => ends };
  }

  test('is replayed from its beginning, then live, then says how it ended', async () => {
    const { attempt, view, output, exit, follow, text, shows, ends } = aSession();
    const log = output(1);
    log.append(Buffer.from('first line\n'));
    const tail = follow(view([attempt(1)]));
    await shows('first line\r\n');
    expect(text()).toContain('── option 3 · bob: a new session with an empty context ──\r\n');
    log.append(Buffer.from('second'));
    await shows('first line\r\nsecond');
    log.append(Buffer.from(' and last\n'));
    log.close();
    exit(1);
    tail.update(view([attempt(1, 'ended')], 'cap'));
    await shows('second and last\r\n\r\n── session ended: cap ──\r\n');
    expect(ends()).toBe(1);
    tail.update(view([attempt(1, 'ended')], 'cap'));
    expect(ends()).toBe(1);
  });

  test('of a harness that tells events shows what it said, in colours, from whole lines; raw bytes on request', async () => {
    const { attempt, view, output, exit, follow, shows, text, written } = aSession();
    const say = (line: string): readonly SaidLine[] => {
      const { text: said = '', kind = 'text' } = JSON.parse(line) as Partial<SaidLine>;
      return [{ kind, text: said }];
    };
    const event = (kind: SaidLine['kind'], said: string): string => `${JSON.stringify({ kind, text: said })}\n`;
    const log = output(1);
    const long = event('result', 'one\ntwo\u001b[2Jthree');
    log.append(Buffer.from(event('tool', '$ ls') + long.slice(0, 20)));
    const tail = follow({ ...view([attempt(1)]), say });
    await shows('$ ls\r\n');
    log.append(Buffer.from(`${long.slice(20)}${event('error', 'no').trimEnd()}`));
    await shows('  one\r\n  twothree\r\n');
    log.close();
    exit(1);
    tail.update({ ...view([attempt(1, 'ended')], 'cap'), say });
    await shows('! no\r\n\r\n── session ended: cap');
    expect(written.join('')).toContain('\u001b[1m$ ls\u001b[22m\r\n\u001b[2m  one\u001b[22m');
    expect(text()).not.toContain('{');
    follow({ ...view([attempt(1, 'ended')], 'cap'), say }, { raw: true });
    await shows('{"kind":"tool","text":"$ ls"}');
  });

  test('with a further attempt says that the context is empty again', async () => {
    const { attempt, view, output, exit, follow, shows, text } = aSession();
    const first = output(1);
    first.append(Buffer.from('one\n'));
    const tail = follow(view([attempt(1)]));
    await shows('one\r\n');
    first.close();
    exit(1);
    const second = output(2);
    second.append(Buffer.from('two\n'));
    tail.update(view([attempt(1, 'ended'), attempt(2)]));
    await shows('two\r\n');
    expect(text()).toMatch(/one\r\n── option 3 · bob: attempt 2, again with an empty context ──\r\ntwo/);
    second.close();
  });

  test('that has long ended is shown whole, what was dropped is said', async () => {
    const { attempt, view, output, exit, follow, shows, text } = aSession();
    const log = output(1, 20);
    log.append(Buffer.from('0123456789abcdefghijABCDEFGHIJ'));
    log.close();
    exit(1);
    follow(view([attempt(1, 'ended')], 'natural'));
    await shows('session ended: natural');
    expect(text()).toContain('0123456789\r\n── 10 bytes of output are not kept ──\r\nABCDEFGHIJ');
  });

  test('whose files come late, or never, is waited for without harm', async () => {
    const { attempt, view, follow, shows, output, ends } = aSession();
    const tail = follow(view([attempt(1)]));
    await shows('a new session');
    const log = output(1);
    log.append(Buffer.from('late\n'));
    await shows('late');
    log.close();
    tail.dispose();
    expect(ends()).toBe(0);
  });
});
