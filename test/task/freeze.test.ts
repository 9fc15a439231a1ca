import fc from 'fast-check';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { canonicalJson } from '../../src/base/canonicalJson.ts';
import { contractHash, freezeContract, thawContract } from '../../src/task/freeze.ts';
import { keysAt } from '../../src/task/issues.ts';
import { formatMessages } from '../../src/task/messages.ts';
import type { Contract } from '../../src/task/model.ts';
import { contractSource, type ContractInput } from '../../src/task/schema.ts';
import { load, openWorkspace, smallest, type Workspace } from './workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace[Symbol.asyncDispose]());

const loaded = async (yaml: string) => {
  await workspace.write('hma.yaml', yaml);
  return load(workspace.path);
};

async function contractOf(yaml: string): Promise<Contract> {
  const result = await loaded(yaml);
  if (!result.ok) throw new Error(`${yaml}\n${formatMessages(result.refusal.messages)}`);
  return result.value.contract;
}

const word = fc.stringMatching(/^[a-z][a-z0-9 ]{0,12}$/).filter((text) => text.trim() !== '');
const prose = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
  .filter((text) => text.trim() !== '' && !text.includes('\0') && text.isWellFormed());
const duration = fc.oneof(
  fc.integer({ min: 1, max: 5_000 }),
  fc.integer({ min: 1, max: 90 }).chain((amount) => fc.constantFrom('s', 'm').map((unit) => `${amount}${unit}`)),
);
const size = fc.oneof(
  fc.integer({ min: 1, max: 2 ** 40 }),
  fc
    .integer({ min: 1, max: 999 })
    .chain((amount) => fc.constantFrom('KB', 'MiB', 'GB').map((unit) => `${amount}${unit}`)),
);
const score = fc.double({ noNaN: true, noDefaultInfinity: true });
const variables = fc.array(
  fc.stringMatching(/^[A-Z][A-Z0-9_]{0,10}$/).filter((name) => !name.startsWith('HMA_')),
  { maxLength: 3 },
);
const command = fc.array(prose, { maxLength: 3 }).map((rest) => ['python3', 'eval.py', ...rest]);
const orNone = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.constant('none' as const));

const agent = fc.oneof(
  fc.constantFrom('claude-code', 'codex'),
  fc.record(
    {
      command,
      prompt: fc.constantFrom('file' as const, 'stdin' as const, 'argument' as const),
      model: word,
      effort: word,
      environment: variables,
    },
    { requiredKeys: ['command'] },
  ),
);

/** Sources that mean something: every key, in long and short forms. */
const source: fc.Arbitrary<ContractInput> = fc.record(
  {
    name: prose,
    objective: prose,
    candidate: fc.constantFrom('model.py', ['model.py', 'weights/**']),
    protected: fc.constantFrom('data', ['data/x.csv', 'lib/*.py']),
    evaluate: fc.oneof(
      command,
      fc.constant('python3 eval.py --fast'),
      fc.record(
        {
          command,
          timeout: duration,
          exclusive: fc.boolean(),
          repeats: fc.integer({ min: 1, max: 99 }),
          result: fc.constantFrom('file' as const, 'last-line' as const, { pattern: '(\\d+)' }),
        },
        { requiredKeys: ['command'] },
      ),
    ),
    validate: fc.constant(['python3', '-m', 'json.tool', 'model.py']),
    grade: command,
    metric: fc.record(
      {
        name: prose,
        direction: fc.constantFrom('maximize' as const, 'minimize' as const),
        baseline: score,
        noise: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
        thresholds: fc.oneof(
          fc.uniqueArray(fc.record({ name: prose, score }), { selector: ({ name }) => name, maxLength: 3 }),
          fc.dictionary(word, score, { maxKeys: 3 }),
        ),
      },
      { requiredKeys: [] },
    ),
    feedback: fc.constantFrom('score' as const, 'blind' as const),
    agents: fc.record({ A: agent, B: agent }, { requiredKeys: [] }),
    policy: fc.oneof(
      fc.constantFrom('alternate' as const, 'single' as const),
      fc.record(
        {
          mode: fc.constantFrom('alternate' as const, 'single' as const),
          cap: orNone,
          first: fc.constantFrom('A' as const, 'B' as const),
          tellCap: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    ),
    budgets: fc.record(
      {
        total: fc.constantFrom('3h', 86_400, '2d'),
        review: duration.filter((value) => value !== 0),
        experiments: orNone,
        until: fc.constantFrom('2027-01-01T00:00Z', '2026-12-24 18:30'),
      },
      { requiredKeys: ['total'] },
    ),
    lateRule: fc.constantFrom('finished' as const, 'submitted' as const),
    fallback: fc.constantFrom('standing' as const, 'record' as const),
    failures: fc.record(
      {
        attempts: fc.integer({ min: 1, max: 100 }),
        wait: fc.constantFrom(0, '10s'),
        then: fc.constantFrom('handover' as const, 'pause' as const),
        usageLimit: fc.constantFrom(
          'wait' as const,
          'pause' as const,
          { then: 'handover' as const },
          { pauseClock: true },
        ),
      },
      { requiredKeys: [] },
    ),
    stall: duration,
    stopAfterBarren: orNone,
    notify: fc.constantFrom<ContractInput['notify']>(
      'none',
      ['notify-send', 'x'],
      'https://example.org/ü?x=1',
      { command: 'notify-send x' },
      { url: 'http://127.0.0.1:1/' },
    ),
    limits: fc.record(
      {
        candidateSize: size,
        output: size,
        diskFloor: size,
        candidateFiles: fc.integer({ min: 1, max: 1e9 }),
        queue: fc.integer({ min: 1, max: 10_000 }),
      },
      { requiredKeys: [] },
    ),
    isolation: fc.oneof(
      fc.constantFrom('auto' as const, 'none' as const),
      fc.record(
        {
          tier: fc.constantFrom('uid' as const, 'bubblewrap' as const),
          network: fc.constantFrom('open' as const, 'none' as const),
          ownHome: fc.boolean(),
          readable: fc.constantFrom<string[]>([], ['/data']),
          writable: fc.constantFrom<string[]>([], ['/cache']),
        },
        { requiredKeys: [] },
      ),
    ),
    prompts: fc.record({ exploration: prose, review: fc.constant({ file: 'task.md' }) }, { requiredKeys: [] }),
    environment: variables,
    state: fc.constantFrom('~/state', '/var/tmp/state'),
  },
  { requiredKeys: ['objective', 'candidate', 'evaluate'] },
);

describe('a frozen contract', () => {
  it('thaws to itself, whatever was accepted', async () => {
    await fc.assert(
      fc.asyncProperty(source, async (input) => {
        const contract = await contractOf(stringify(input));
        const thawed = thawContract(freezeContract(contract));
        expect(thawed).toStrictEqual({ ok: true, value: contract });
        expect(thawed.ok && contractHash(thawed.value)).toBe(contractHash(contract));
      }),
      { numRuns: 300 },
    );
  });

  it.each<[string, string, string, string]>([
    [
      'a cut text',
      '{"schema": 1, "na',
      'not_json',
      'the frozen contract is not JSON: Unterminated string in JSON at position 17 (line 1 column 18)',
    ],
    [
      'a newer form',
      '{"schema": 2, "name": "x"}',
      'newer',
      'the frozen contract has form 2; this version of HMA reads up to 1',
    ],
    ['no form', '{"name": "x"}', 'invalid', 'the frozen contract’s `schema` is wrong: Invalid input: expected 1'],
    ['a list', '[]', 'invalid', 'the frozen contract is wrong: Invalid input: expected object, received array'],
    ['null', 'null', 'invalid', 'the frozen contract is wrong: Invalid input: expected object, received null'],
  ])('is refused as %s', (_, text, reason, what) => {
    const thawed = thawContract(text);
    expect(thawed.ok ? thawed : { reason: thawed.refusal.reason, what: thawed.refusal.what }).toEqual({ reason, what });
  });

  it('is refused when any key is missing, unknown or of another kind', async () => {
    const contract = await contractOf(smallest);
    for (const key of Object.keys(contract)) {
      const without = Object.fromEntries(Object.entries(contract).filter(([other]) => other !== key));
      expect([key, thawContract(JSON.stringify(without)).ok]).toEqual([key, false]);
      expect([key, thawContract(JSON.stringify({ ...contract, [key]: { odd: 1 } })).ok]).toEqual([key, false]);
    }
    expect(thawContract(JSON.stringify({ ...contract, more: 1 })).ok).toBe(false);
    expect(thawContract(JSON.stringify({ ...contract, budgets: { ...contract.budgets, reviewMs: -1 } })).ok).toBe(
      false,
    );
  });
});

describe('the hash', () => {
  it('does not depend on the order of keys, and does on every value', async () => {
    const contract = await contractOf(smallest);
    const turned = Object.fromEntries(Object.entries(contract).toReversed()) as unknown as Contract;
    expect(contractHash(turned)).toBe(contractHash(contract));
    expect(contractHash({ ...contract, objective: 'Improve it!' })).not.toBe(contractHash(contract));
    expect(contractHash({ ...contract, candidate: ['a', 'b'] })).not.toBe(
      contractHash({ ...contract, candidate: ['b', 'a'] }),
    );
  });

  it('is SHA-256 over sorted JSON', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'ü' }], a: undefined, A: -0 })).toBe(
      '{"A":0,"b":[1,{"c":"ü","d":null}]}',
    );
    expect(contractHash({} as Contract)).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });
});

describe('an unknown key', () => {
  const places = [
    '',
    'evaluate',
    'metric',
    'policy',
    'budgets',
    'failures',
    'limits',
    'isolation',
    'prompts',
    'agents',
    'agents.A',
    'validate',
    'grade',
    'lateRule',
  ];
  const base: Record<string, unknown> = {
    objective: 'x',
    candidate: 'model.py',
    evaluate: { command: ['python3', 'eval.py'] },
    validate: { command: ['true'] },
    grade: { command: ['true'] },
    lateRule: { rule: 'finished' },
    agents: { A: { adapter: 'codex' } },
  };

  it('never passes, wherever it stands', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.oneof(
          fc.string({ maxLength: 12 }),
          fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty'),
        ),
        fc.jsonValue({ maxDepth: 1 }),
        async (place, key, value) => {
          const path = place === '' ? [] : place.split('.');
          fc.pre(!keysAt(contractSource, path).includes(key));
          const text = stringify(insert(base, path, { key, value }));
          const result = await loaded(text);
          expect(result.ok).toBe(false);
          expect(
            !result.ok &&
              result.refusal.messages.some(
                ({ code, what }) => code === 'unknown_key' && what.startsWith(`unknown key \`${key}\``),
              ),
          ).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});

/** A copy of a mapping with one more key at a path. */
function insert(
  into: Record<string, unknown>,
  path: readonly string[],
  entry: { key: string; value: unknown },
): Record<string, unknown> {
  const [first, ...rest] = path;
  const copy = Object.assign(Object.create(null) as Record<string, unknown>, into);
  if (first === undefined) copy[entry.key] = entry.value;
  else copy[first] = insert((into[first] ?? {}) as Record<string, unknown>, rest, entry);
  return copy;
}
