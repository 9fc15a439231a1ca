import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { topOf } from '../machines/bubblewrap.ts';
import { isOfSystem } from '../task/paths.ts';
import { filesBelow, readIfThere, type EnvironmentFiles } from './harborFiles.ts';
import type { TaskToml } from './harborToml.ts';
import type { MetricFound } from './setupDetect.ts';

/** Which number of reward.json is the score: the measured one where the tests write it and the task says which way is better. */
export interface Scoring {
  readonly key: string;
  readonly metric: MetricFound & { readonly baseline?: number; readonly reference?: number };
}

/** What a task's tests are seen to do, from their text. */
export interface TestsRead {
  readonly scoring: Scoring;
  /** Folders below / that they name, and that are neither on this machine nor in the task. */
  readonly missing: readonly string[];
  /** Programs by which test.sh installs or downloads something while it runs. */
  readonly installs: readonly string[];
}

/** Longest file of the tests that is looked through, characters: longer ones are data. */
const longestText = 200_000;

/** Looks through `tests/`. */
export function readTests(folder: string, { optimization }: TaskToml, found: EnvironmentFiles): TestsRead {
  const texts = filesBelow(join(folder, 'tests'))
    .map((path) => readIfThere(join(folder, 'tests', path)) ?? '')
    .filter((text) => text.length <= longestText && !text.includes('\0'));
  return {
    scoring: scoringOf(texts, optimization),
    missing: missingIn(texts, found),
    installs: installsIn(readIfThere(join(folder, 'tests', 'test.sh')) ?? ''),
  };
}

function scoringOf(texts: readonly string[], optimization: TaskToml['optimization']): Scoring {
  const keys = ['metric', ...(optimization?.metric === undefined ? [] : [optimization.metric])];
  const key = keys.find((each) =>
    texts.some((text) => new RegExp(`["']${escaped(each)}\\\\?["']\\s*\\]?\\s*[:=]`).test(text)),
  );
  if (optimization?.direction === undefined || key === undefined)
    return { key: 'reward', metric: { name: 'reward', direction: 'maximize' } };
  const [baseline, reference] = [optimization.baseline?.score, optimization.reference?.score];
  return {
    key,
    metric: {
      name: optimization.metric ?? 'metric',
      direction: /^(lower|minimize)$/.test(optimization.direction) ? 'minimize' : 'maximize',
      ...(baseline === undefined ? {} : { baseline }),
      ...(reference === undefined ? {} : { reference }),
    },
  };
}

const escaped = (text: string): string => text.replaceAll(/[^\w]/g, '\\$&');

function missingIn(texts: readonly string[], { app, beside }: EnvironmentFiles): readonly string[] {
  const served = new Set([topOf(app), '/tests', '/logs', ...[...beside.keys()].map(topOf)]);
  const named = texts.flatMap((text) =>
    [...text.matchAll(/(?<![\w./:$}<>)\\-])(\/[a-z][\w-]+)\/[\w{$]/g)].map(([, top = '']) => top),
  );
  return [...new Set(named)].filter((top) => !served.has(top) && !isOfSystem(top) && !existsSync(top)).toSorted();
}

function installsIn(script: string): readonly string[] {
  const lines = script.split('\n').filter((line) => !/^\s*#/.test(line));
  const found = lines.flatMap((line) =>
    [
      ...line.matchAll(
        /(?:^|[;&|(]|\bthen|\bdo|\bif|!)\s*(?:sudo\s+)?(apt-get|apt|apk|dnf|yum|curl|wget|uvx|npx|conda|(?:python3? -m )?pip3?(?= install)|uv(?= (?:pip|run|tool|venv|sync|add))|npm(?= (?:i|ci|install)\b)|cargo(?= install)|go(?= (?:get|install)))(?=\s|$)/g,
      ),
    ].map(([, name = '']) => name),
  );
  return [...new Set(found)];
}
