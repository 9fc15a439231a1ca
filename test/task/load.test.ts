import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { formatMessages } from '../../src/task/messages.ts';
import type { Contract } from '../../src/task/model.ts';
import { malformed } from './malformed.ts';
import { load, messagesFor, openWorkspace, smallest, type Workspace } from './workspace.ts';

let workspace: Workspace;
let outside: string;

beforeAll(async () => {
  workspace = await openWorkspace();
  outside = await mkdtemp(join(tmpdir(), 'hma-private-'));
});
afterAll(async () => {
  await workspace[Symbol.asyncDispose]();
  await rm(outside, { recursive: true, force: true });
});

/** The contract of a text that is accepted, and its warnings' codes. */
async function accepted(yaml: string): Promise<{ contract: Contract; warnings: string[] }> {
  await workspace.write('hma.yaml', yaml);
  const loaded = await load(workspace.path);
  if (!loaded.ok) throw new Error(formatMessages(loaded.refusal.messages));
  return { contract: loaded.value.contract, warnings: loaded.value.warnings.map(({ code }) => code) };
}

const short = ({
  line,
  column,
  endColumn,
  endLine,
  severity,
  code,
  what,
  fix,
}: Awaited<ReturnType<typeof messagesFor>>['messages'][number]) => [
  `${line}:${column}-${endLine}:${endColumn} ${severity} ${code}`,
  what,
  fix,
];

describe('a malformed contract', () => {
  it.each(malformed)('is refused with words and place: $name', async ({ yaml, messages }) => {
    const found = await messagesFor(workspace, yaml);
    expect({ ok: found.ok, messages: found.messages.map(short) }).toEqual({ ok: false, messages });
  });

  it('is one of at least forty kinds, each with its own words', () => {
    expect(malformed.length).toBeGreaterThanOrEqual(40);
    expect(new Set(malformed.map(({ yaml }) => yaml)).size).toBe(malformed.length);
    expect(
      malformed.flatMap(({ messages }) => messages).every(([, what, fix]) => what.length > 10 && /[.?]$/.test(fix)),
    ).toBe(true);
  });
});

describe('the smallest contract', () => {
  it('is filled with defaults', async () => {
    const { contract, warnings } = await accepted(smallest);
    expect(warnings).toEqual([]);
    expect(contract).toEqual({
      schema: 1,
      name: workspace.path.split('/').at(-1),
      objective: 'Improve it',
      candidate: ['model.py'],
      protected: ['hma.yaml', 'eval.py'],
      evaluate: {
        command: ['python3', 'eval.py'],
        cwd: '.',
        timeoutMs: 1_800_000,
        exclusive: false,
        repeats: 1,
        result: { from: 'file' },
        hidden: [],
      },
      validate: null,
      grade: null,
      metric: { name: 'score', direction: 'maximize', thresholds: [], noise: 0 },
      feedback: 'score',
      agents: {
        A: { name: 'claude-code', adapter: 'claude-code', prompt: 'file', environment: [] },
        B: { name: 'codex', adapter: 'codex', prompt: 'file', environment: [] },
      },
      policy: { mode: 'alternate', cap: 5, first: 'A', tellCap: false },
      budgets: { totalMs: 21_600_000, reviewMs: 900_000, experiments: null, until: null },
      lateRule: { rule: 'finished' },
      fallback: 'standing',
      failures: {
        attempts: 3,
        waitMs: 30_000,
        then: 'handover',
        usageLimit: { then: 'wait', pauseClock: false },
      },
      stallMs: 1_800_000,
      stopAfterBarren: null,
      notify: { kind: 'none' },
      limits: {
        candidateBytes: 2_000_000_000,
        candidateFiles: 20_000,
        outputBytes: 67_108_864,
        diskFloorBytes: 1_000_000_000,
        queue: 64,
      },
      isolation: { tier: 'auto', network: 'open', ownHome: true, readable: [], writable: [] },
      prompts: {},
      environment: [],
      state: null,
    });
  });

  it('reads the same with CRLF, a byte order mark, and the objective in a file', async () => {
    const { contract } = await accepted(smallest);
    expect((await accepted(`\ufeff${smallest.replaceAll('\n', '\r\n')}`)).contract).toEqual(contract);
    const fromFile = await accepted(smallest.replace('Improve it', '{file: task.md}'));
    expect(fromFile.contract).toEqual({
      ...contract,
      objective: 'Improve it\n',
      protected: ['hma.yaml', 'task.md', 'eval.py'],
    });
  });
});

describe('a full contract', () => {
  it('is resolved whole', async () => {
    const labels = join(outside, 'labels.csv');
    await writeFile(labels, '1\n');
    await writeFile(
      join(outside, 'p.yaml'),
      `metric:\n  thresholds: {gold: 0.9, silver: 0.8}\ngrade: {command: [python3, eval.py, --hidden], cwd: data, hidden: [${labels}]}\npolicy: {cap: 3}\n`,
    );
    await workspace.write('data/eval.py', '');
    const { contract, warnings } = await accepted(`
name: demo
objective: {file: task.md}
candidate: [./model.py, weights/]
protected: [data]
evaluate: {command: "python3 eval.py '--out=a b'", timeout: 10m, exclusive: true, repeats: 3, result: last-line}
validate: python3 -m json.tool model.py
metric: {name: rmse, direction: minimize, baseline: 4.5, reference: 0.35, range: [0, null], noise: -0}
feedback: blind
agents: {A: {command: [my-agent, "{promptFile}"], prompt: stdin, model: m, effort: high, environment: [KEY, KEY]}, B: codex}
policy: {mode: alternate, first: B, tellCap: true}
budgets: {total: 2h, review: 600, experiments: 40, tokens: 5M, cost: 12.5, until: "2026-12-01 18:00+01:00"}
lateRule: submitted
fallback: record
failures: {attempts: 1, wait: 0, then: pause, usageLimit: {then: handover, pauseClock: true}}
stall: 45m
stopAfterBarren: 4
notify: https://example.org/hook
limits: {candidateSize: 1GiB, candidateFiles: 10, output: 1MB, diskFloor: 5 GB, queue: 8}
isolation: {tier: uid, network: none, ownHome: false, readable: [/data/images], writable: [../cache]}
prompts: {exploration: Go., review: {file: task.md}}
environment: [CUDA_VISIBLE_DEVICES]
state: ~/state
private: ${join(outside, 'p.yaml')}
`);
    expect(warnings).toEqual(['forgeable_result']);
    expect(contract).toEqual({
      schema: 1,
      name: 'demo',
      objective: 'Improve it\n',
      candidate: ['model.py', 'weights'],
      protected: ['hma.yaml', 'task.md', 'data', 'eval.py', 'data/eval.py'],
      evaluate: {
        command: ['python3', 'eval.py', '--out=a b'],
        cwd: '.',
        timeoutMs: 600_000,
        exclusive: true,
        repeats: 3,
        result: { from: 'lastLine' },
        hidden: [],
      },
      validate: { command: ['python3', '-m', 'json.tool', 'model.py'], cwd: '.', timeoutMs: 300_000 },
      grade: { command: ['python3', 'eval.py', '--hidden'], cwd: 'data', timeoutMs: 1_800_000, hidden: [labels] },
      metric: {
        name: 'rmse',
        direction: 'minimize',
        baseline: 4.5,
        reference: 0.35,
        range: { min: 0 },
        noise: 0,
        thresholds: [
          { name: 'gold', score: 0.9 },
          { name: 'silver', score: 0.8 },
        ],
      },
      feedback: 'blind',
      agents: {
        A: {
          name: 'command',
          adapter: 'command',
          command: ['my-agent', '{promptFile}'],
          prompt: 'stdin',
          model: 'm',
          effort: 'high',
          environment: ['KEY'],
        },
        B: { name: 'codex', adapter: 'codex', prompt: 'file', environment: [] },
      },
      policy: { mode: 'alternate', cap: 3, first: 'B', tellCap: true },
      budgets: {
        ...{ totalMs: 7_200_000, reviewMs: 600_000, experiments: 40, tokens: 5_000_000, cost: 12.5 },
        until: Date.UTC(2026, 11, 1, 17),
      },
      lateRule: { rule: 'submitted', graceMs: 200_000 },
      fallback: 'record',
      failures: { attempts: 1, waitMs: 0, then: 'pause', usageLimit: { then: 'handover', pauseClock: true } },
      stallMs: 2_700_000,
      stopAfterBarren: 4,
      notify: { kind: 'url', url: 'https://example.org/hook' },
      limits: {
        candidateBytes: 2 ** 30,
        candidateFiles: 10,
        outputBytes: 1_000_000,
        diskFloorBytes: 5_000_000_000,
        queue: 8,
      },
      isolation: {
        tier: 'uid',
        network: 'none',
        ownHome: false,
        readable: ['/data/images'],
        writable: [join(tmpdir(), 'cache')],
      },
      prompts: { exploration: 'Go.', review: 'Improve it\n' },
      environment: ['CUDA_VISIBLE_DEVICES'],
      state: '/home/ada/state',
    });
  });

  it('has no review and no cap with a single agent', async () => {
    const { contract, warnings } = await accepted(
      `${smallest}policy: {mode: single, first: B, cap: 3}\nbudgets: {total: 10m}\n`,
    );
    expect({ policy: contract.policy, budgets: contract.budgets, warnings }).toEqual({
      policy: { mode: 'single', cap: null, first: 'B', tellCap: false },
      budgets: { totalMs: 600_000, reviewMs: 0, experiments: null, until: null },
      warnings: ['unused'],
    });
  });

  it('tells two agents of one harness apart', async () => {
    const { contract } = await accepted(`${smallest}agents: {A: codex, B: {adapter: codex, model: m}}\n`);
    expect([contract.agents.A.name, contract.agents.B.name]).toEqual(['codex A', 'codex B']);
  });
});

describe('a warning', () => {
  it.each<[string, string, string[]]>([
    ['a blind task without grade', `${smallest}feedback: blind\n`, ['blind_without_grade']],
    [
      'a result by pattern',
      smallest.replace('[python3, eval.py]', "{command: [python3, eval.py], result: {pattern: 'score: (\\d+)'}}"),
      ['forgeable_result'],
    ],
    ['an evaluator without files', smallest.replace('[python3, eval.py]', '[score-it]'), ['names_no_file']],
    ['a redirection in a list', smallest.replace('eval.py]', 'eval.py, ">", out]'), ['shell_operator']],
    ['an evaluator inside the candidate', smallest.replace('model.py', '"*.py"'), ['evaluator_in_candidate']],
    [
      'a hidden path in the workspace',
      `${smallest}grade: {command: [python3, eval.py], hidden: [secret/labels.csv]}\n`,
      ['hidden_in_workspace'],
    ],
    ['a reference worse than the baseline', `${smallest}metric: {baseline: 2, reference: 1}\n`, ['reference_is_worse']],
    [
      'an evaluation longer than exploration',
      `${smallest.replace('[python3, eval.py]', '{command: [python3, eval.py], timeout: 30m}')}budgets: {total: 30m}\n`,
      ['timeout_too_long'],
    ],
    [
      'evaluations that are repeated for longer than exploration',
      smallest.replace('[python3, eval.py]', '{command: [python3, eval.py], repeats: 12}'),
      ['timeout_too_long'],
    ],
    [
      'secrets in sight without isolation',
      `${smallest}isolation: none\npolicy: {cap: 3}\nmetric: {thresholds: {gold: 1}}\n`,
      ['agents_can_read', 'agents_can_read'],
    ],
  ])('is given, and the contract accepted, for %s', async (_, yaml, codes) => {
    expect((await accepted(yaml)).warnings).toEqual(codes);
  });

  it('is not given for a default that nobody wrote', async () => {
    expect((await accepted(`${smallest}budgets: {total: 20m}\n`)).warnings).toEqual([]);
  });

  it('is given for an evaluator by its absolute path, which is protected all the same', async () => {
    const { contract, warnings } = await accepted(smallest.replace('eval.py', join(workspace.path, 'eval.py')));
    expect({ protected: contract.protected, warnings }).toEqual({
      protected: ['hma.yaml', 'eval.py'],
      warnings: ['absolute_in_workspace'],
    });
  });
});

describe('protection by default', () => {
  it.each<[string, string[]]>([
    ['[python3, -m, data.score, model.py]', ['hma.yaml', 'data/score.py']],
    ['[python3, eval.py, model.py]', ['hma.yaml', 'eval.py']],
    ['{command: [python3, score.py, --in=x.csv], cwd: data}', ['hma.yaml', 'data/score.py', 'data/x.csv']],
    ['[python3, eval.py, data, .]', ['hma.yaml', 'eval.py', 'data']],
  ])('covers what %s names', async (command, expected) => {
    await workspace.write('data/score.py', '');
    const { contract } = await accepted(smallest.replace('[python3, eval.py]', command));
    expect(contract.protected).toEqual(expected);
  });
});

describe('a private file', () => {
  const withPrivate = async (text: string, main = smallest) => {
    await writeFile(join(outside, 'p.yaml'), text);
    return messagesFor(workspace, `${main}private: ${join(outside, 'p.yaml')}\n`);
  };

  it('must not repeat a key, at any depth', async () => {
    const { ok, messages } = await withPrivate(
      'metric: {direction: minimize, noise: 1}\nevaluate: {hidden: []}\n',
      `${smallest}metric: {direction: minimize}\n`,
    );
    expect({ ok, messages: messages.map((message) => [message.file, ...short(message)]) }).toEqual({
      ok: false,
      messages: [
        [
          join(outside, 'p.yaml'),
          '1:10-1:19 error key_in_both',
          '`metric.direction` stands in hma.yaml too',
          'Keep it in one of the two files.',
        ],
        [
          join(outside, 'p.yaml'),
          '2:1-2:9 error key_in_both',
          '`evaluate` stands in hma.yaml too',
          'Write `evaluate: {command: …}` in the contract, so that further keys can be added here.',
        ],
      ],
    });
  });

  it('has its own places in messages', async () => {
    const { messages } = await withPrivate('\nmetric:\n  thresholds: {gold: x}\ngrad: 1\n');
    expect(messages.map((message) => [message.file, ...short(message).slice(0, 2)])).toEqual([
      [
        join(outside, 'p.yaml'),
        '3:22-3:23 error wrong_type',
        '`metric.thresholds.gold` must be a number, not the text "x"',
      ],
      [join(outside, 'p.yaml'), '4:1-4:5 error unknown_key', 'unknown key `grad`'],
    ]);
  });

  it.each<[string, string, string]>([
    ['a list', '- a\n', '1:1-1:2 error wrong_type'],
    ['another private file', 'private: /x\n', '1:1-1:8 error private_in_private'],
    ['a syntax error', 'a: [\n', '1:4-1:5 error yaml_not_closed'],
  ])('is refused as %s', async (_, text, where) => {
    const { ok, messages } = await withPrivate(text);
    expect({ ok, where: messages.map((message) => short(message)[0]) }).toEqual({ ok: false, where: [where] });
  });

  it('is found out when a link leads into the workspace', async () => {
    await symlink(join(workspace.path, 'secret.yaml'), join(outside, 'link.yaml'));
    const { messages } = await messagesFor(workspace, `${smallest}private: ${join(outside, 'link.yaml')}\n`);
    expect(messages.map(({ code }) => code)).toEqual(['private_in_workspace']);
  });
});

describe('a file that can’t be a contract', () => {
  const codes = async (yaml: string | Uint8Array) =>
    (await messagesFor(workspace, yaml)).messages.map((message) => short(message).slice(0, 2).join(' '));

  it.each<[string, () => string | Uint8Array, string]>([
    ['Latin-1', () => Buffer.from('objective: \u00e9\n', 'latin1'), '1:1-1:2 error not_utf8 hma.yaml is not UTF-8'],
    ['UTF-16', () => Buffer.from(`\ufeff${smallest}`, 'utf16le'), '1:1-1:2 error not_utf8 hma.yaml is UTF-16'],
    [
      'binary',
      () => Buffer.from('a: 1\nb: \0\n'),
      '2:1-2:2 error not_utf8 hma.yaml is not text: it contains a NUL byte',
    ],
    [
      'too large',
      () => `# ${'x'.repeat(600 * 1024)}\n${smallest}`,
      '1:1-1:2 error file_too_large hma.yaml is larger than 512 KiB',
    ],
    ['nested without end', () => `a: ${'['.repeat(5_000)}`, '1:1-1:2 error too_deep the file is nested too deeply'],
  ])('is refused: %s', async (_, yaml, expected) => {
    expect(await codes(yaml())).toEqual([expected]);
  });

  it('is refused as an alias bomb, at once', async () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `a${level + 1}: &a${level + 1} [${Array.from({ length: 9 }, () => `*a${level}`).join(',')}]`,
    );
    expect(await codes(['a0: &a0 [x]', ...levels].join('\n'))).toEqual([
      '1:1-1:2 error alias_bomb the file’s aliases (*name) expand to too much',
    ]);
  });

  it('is refused with a value that contains itself', async () => {
    expect(await codes(`${smallest}protected: &p [*p]\n`)).toEqual([
      '4:16-4:18 error wrong_type `protected[0]` must be a path, not a list',
    ]);
  });

  it('with twenty thousand keys is answered within seconds', async () => {
    const started = process.hrtime.bigint();
    const { ok, messages } = await messagesFor(
      workspace,
      Array.from({ length: 20_000 }, (_, index) => `k${index}:`).join('\n'),
    );
    expect({ ok, messages: messages.length, seconds: Number(process.hrtime.bigint() - started) / 1e9 < 30 }).toEqual({
      ok: false,
      messages: 100,
      seconds: true,
    });
  });

  it('is refused as a folder, a FIFO, a missing file and a link to itself', async () => {
    const place = await mkdtemp(join(tmpdir(), 'hma-odd-'));
    try {
      const say = async (): Promise<string> => {
        const loaded = await load(place);
        return loaded.ok
          ? 'accepted'
          : loaded.refusal.messages.map(({ code, what, fix }) => `${code}: ${what}. ${fix}`).join('\n');
      };
      const said = [await say()];
      await mkdir(join(place, 'hma.yaml'));
      said.push(await say());
      await rename(join(place, 'hma.yaml'), join(place, 'folder'));
      execFileSync('mkfifo', [join(place, 'hma.yaml')]);
      said.push(await say());
      await rm(join(place, 'hma.yaml'));
      await symlink('hma.yaml', join(place, 'hma.yaml'));
      said.push(await say());
      expect(said).toEqual([
        'file_missing: hma.yaml does not exist. Create it. The smallest contract has three keys: objective, candidate and evaluate.',
        'not_a_file: hma.yaml is a folder. Name a file, or rename the folder.',
        'not_a_file: hma.yaml is not a regular file. Name a regular file.',
        'file_unreadable: hma.yaml is a symbolic link that leads back to itself. Replace the link by a file.',
      ]);
    } finally {
      await rm(place, { recursive: true });
    }
  });

  it('is refused without permission to read it', async () => {
    const place = await mkdtemp(join(tmpdir(), 'hma-locked-'));
    await chmod(place, 0o755);
    await writeFile(join(place, 'hma.yaml'), smallest);
    await chmod(join(place, 'hma.yaml'), 0);
    const root = process.geteuid!() === 0;
    // root may read everything, so the load itself is made as nobody
    const script = `import { loadContract } from ${JSON.stringify(new URL('../../src/task/load.ts', import.meta.url).href)};
      if (${root}) process.setuid(65534);
      const loaded = await loadContract({ workspace: ${JSON.stringify(place)}, given: { wall: 0 } });
      console.log(JSON.stringify(loaded.ok ? [] : loaded.refusal.messages.map(({ code, what }) => [code, what])));`;
    try {
      const printed = execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '--eval', script], {
        encoding: 'utf8',
      });
      expect(JSON.parse(printed)).toEqual([['file_unreadable', 'hma.yaml may not be read']]);
    } finally {
      await rm(place, { recursive: true });
    }
  });
});

describe('rendering', () => {
  it('shows the line, carets and the fix, as a compiler does', async () => {
    const { messages } = await messagesFor(workspace, `${smallest}budgets: {totl: 1h}\nfeedback: blind\n`);
    expect(formatMessages(messages)).toBe(`hma.yaml:4:11: error: unknown key \`totl\` in \`budgets\` [unknown_key]
  4 | budgets: {totl: 1h}
    |           ^^^^
  fix: Did you mean \`total\`?

hma.yaml:5:11: warning: a blind task without \`grade\` shows nobody a score [blind_without_grade]
  5 | feedback: blind
    |           ^^^^^
  fix: Add a hidden \`grade\`, or write feedback: score.

1 error, 1 warning
`);
  });

  it('is empty for no messages, and keeps control characters from the terminal', async () => {
    expect(formatMessages([])).toBe('');
    const message = {
      severity: 'error',
      file: 'f',
      line: 1,
      column: 2,
      endLine: 1,
      endColumn: 3,
      code: 'empty',
      what: 'w',
      fix: 'x.',
      source: '\u001b[31mred',
    } as const;
    expect(formatMessages([message])).toBe('f:1:2: error: w [empty]\n  1 | ·[31mred\n    |  ^\n  fix: x.\n\n1 error\n');
  });
});
