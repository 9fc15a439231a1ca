import type { MetricFound } from './setupDetect.ts';
import { agentLines, yamlList, yamlText, type SetupAgents } from './setupWrite.ts';

/** An hma.yaml as an import fills it in. Paths under `hidden` and `readable` are absolute. */
export interface ImportedContract {
  readonly name: string;
  /** Where the task came from, for the comment at the top. */
  readonly origin: string;
  readonly objectiveFile: string;
  readonly candidate: readonly string[];
  readonly protected: readonly string[];
  readonly evaluate: {
    readonly command: readonly string[];
    readonly timeout: string;
    readonly hidden: readonly string[];
    readonly binds: readonly { readonly from?: string; readonly to: string }[];
  };
  readonly grade: { readonly command: readonly string[]; readonly hidden: readonly string[] } | null;
  readonly metric: MetricFound & {
    readonly baseline?: number;
    readonly reference?: number;
    readonly thresholds?: Readonly<Record<string, number>>;
  };
  readonly feedback: 'score' | 'blind';
  readonly isolation: {
    readonly network?: 'none';
    readonly readable: readonly string[];
    readonly hidden: readonly string[];
  };
  /** As durations are written. */
  readonly total: string;
  readonly review: string;
}

const when = (condition: boolean, ...lines: readonly string[]): readonly string[] => (condition ? lines : []);

/** The text of the hma.yaml of an imported task: every key that the import knows, with a word on why. */
export function importedContractText(task: ImportedContract, agents: SetupAgents): string {
  const { evaluate, grade, isolation } = task;
  const lines = [
    `# ${task.origin}, imported by hma init. Hover a key to see what it means; problems are marked.`,
    `name: ${yamlText(task.name)}`,
    `objective: { file: ${yamlText(task.objectiveFile)} }`,
    '',
    '# What is submitted, archived and evaluated; and what agents must leave as it is.',
    `candidate: ${yamlList(task.candidate)}`,
    ...when(task.protected.length > 0, `protected: ${yamlList(task.protected)}`),
    '',
    'evaluate:',
    `  command: ${yamlList(evaluate.command)}`,
    `  timeout: ${evaluate.timeout}`,
    ...when(evaluate.hidden.length > 0, `  hidden: ${yamlList(evaluate.hidden)}  # agents never see it`),
    ...when(
      evaluate.binds.length > 0,
      '  binds:  # the absolute paths that the task’s tests expect (isolation bubblewrap)',
    ),
    ...evaluate.binds.map(
      ({ from, to }) => `    - { ${from === undefined ? '' : `from: ${yamlText(from)}, `}to: ${yamlText(to)} }`,
    ),
    ...when(grade !== null, 'grade:  # hidden, after the end: hma grade --all, hma reveal'),
    ...(grade === null ? [] : [`  command: ${yamlList(grade.command)}`, `  hidden: ${yamlList(grade.hidden)}`]),
    '',
    ...metricLines(task),
    `feedback: ${task.feedback}`,
    '',
    'isolation:',
    evaluate.binds.length > 0 ? '  tier: bubblewrap  # the only one with absolute paths of its own' : '  tier: auto',
    ...when(isolation.network !== undefined, '  network: none  # of the evaluator; the task allows it none'),
    ...when(isolation.readable.length > 0, `  readable: ${yamlList(isolation.readable)}`),
    ...when(
      isolation.hidden.length > 0,
      `  hidden: ${yamlList(isolation.hidden)}  # neither agents nor evaluators see it`,
    ),
    '',
    'agents:',
    ...agentLines(agents),
    'policy: { cap: 5 }',
    '',
    '# Active time of the whole run; the end of it is reserved for the final review.',
    `budgets: { total: ${task.total}, review: ${task.review} }`,
  ];
  return `${lines.join('\n')}\n`;
}

function metricLines({ metric }: ImportedContract): readonly string[] {
  const medals = Object.entries(metric.thresholds ?? {}).map(([name, score]) => `${yamlText(name)}: ${score}`);
  return [
    'metric:',
    `  name: ${yamlText(metric.name)}`,
    `  direction: ${metric.direction}`,
    ...(metric.baseline === undefined ? [] : [`  baseline: ${metric.baseline}`]),
    ...(metric.reference === undefined ? [] : [`  reference: ${metric.reference}`]),
    ...when(medals.length > 0, `  thresholds: { ${medals.join(', ')} }`),
  ];
}
