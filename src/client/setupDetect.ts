/** What lies in the folder, as far as a set-up looks: relative paths with `/`, and the beginning of some files' texts. */
export interface FolderLook {
  readonly name: string;
  readonly files: readonly string[];
  readonly texts: Readonly<Record<string, string>>;
  /** Agents' programs that were found on PATH, by name. */
  readonly programs: readonly string[];
}

/** A way to evaluate that was found. */
export interface EvaluatorFound {
  readonly command: readonly string[];
  readonly file: string;
}

const runners: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\.py$/, ['python3']],
  [/\.(mjs|js|cjs)$/, ['node']],
  [/\.sh$/, ['bash']],
  [/\.R$/i, ['Rscript']],
  [/\.jl$/, ['julia']],
];

const evaluatorName =
  /(^|\/)(run_?)?(evaluate|evaluation|evaluator|eval|score|scorer|grade|benchmark|bench)\w*\.(py|mjs|cjs|js|sh|R|jl)$/i;
const makeTarget = /^(evaluate|eval|score|benchmark|bench)[\w-]*\s*:(?!=)/gm;

/** Evaluators that a folder seems to have, the likeliest first: files named like one, then targets of a Makefile. */
export function evaluatorsIn({ files, texts }: Pick<FolderLook, 'files' | 'texts'>): EvaluatorFound[] {
  const named = files.filter(
    (path) => evaluatorName.test(path) && !/(^|\/)(tests?|node_modules|\.venv|venv|vendor)\//.test(path),
  );
  const sorted = named.toSorted(
    (a, b) => depth(a) - depth(b) || Number(!/evaluat/i.test(a)) - Number(!/evaluat/i.test(b)) || a.localeCompare(b),
  );
  const scripts = sorted.flatMap((file): EvaluatorFound[] => {
    const runner = runners.find(([ending]) => ending.test(file))?.[1];
    return runner ? [{ command: [...runner, file], file }] : [];
  });
  const targets = [...(texts['Makefile'] ?? '').matchAll(makeTarget)].map(([line]) => ({
    command: ['make', '-s', line.replace(/\s*:.*/, '')],
    file: 'Makefile',
  }));
  return [...scripts, ...targets];
}

const depth = (path: string): number => path.split('/').length;

/** A metric by its usual name, and which way is better. */
export interface MetricFound {
  readonly name: string;
  readonly direction: 'maximize' | 'minimize';
}

const metrics: readonly (readonly [RegExp, MetricFound])[] = [
  [/\b(neg_)?log_?loss|cross_?entropy\b/i, { name: 'log loss', direction: 'minimize' }],
  [/\brmsle\b/i, { name: 'RMSLE', direction: 'minimize' }],
  [/\brmse|root_mean_squared_error\b/i, { name: 'RMSE', direction: 'minimize' }],
  [/\bmae|mean_absolute_error\b/i, { name: 'MAE', direction: 'minimize' }],
  [/\bmse|mean_squared_error\b/i, { name: 'MSE', direction: 'minimize' }],
  [/\bperplexity\b/i, { name: 'perplexity', direction: 'minimize' }],
  [/\b(latency|runtime|elapsed|seconds)\b/i, { name: 'time', direction: 'minimize' }],
  [/\broc_?auc|auroc|auc\b/i, { name: 'AUC', direction: 'maximize' }],
  [/\bf1(_score)?\b/i, { name: 'F1', direction: 'maximize' }],
  [/\bndcg|mean_average_precision|mAP\b/, { name: 'mAP', direction: 'maximize' }],
  [/\b(accuracy|acc)(_score)?\b/i, { name: 'accuracy', direction: 'maximize' }],
  [/\b(bleu|rouge)\b/i, { name: 'BLEU', direction: 'maximize' }],
  [/\b(throughput|tokens_per_second|speedup)\b/i, { name: 'throughput', direction: 'maximize' }],
];

/** Metrics that an evaluator's text speaks of, in the order of their first mention. */
export function metricsIn(text: string): MetricFound[] {
  return metrics
    .map(([pattern, metric]) => ({ metric, at: text.search(pattern) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)
    .map(({ metric }) => metric);
}

const notSolution =
  /^(hma\.yaml|\.hma|\.git.*|readme.*|license.*|makefile|requirements.*|pyproject\.toml|package(-lock)?\.json|environment\.ya?ml|data|dataset|datasets|inputs?|tests?|docs?|node_modules|\.venv|venv|__pycache__|dist|build)$/i;

/** Top files and folders that may make up a candidate, those that look like a solution first, with whether they do. */
export function candidatesIn(
  { files }: Pick<FolderLook, 'files'>,
  evaluator: string | null,
): { readonly path: string; readonly likely: boolean }[] {
  const tops = [
    ...new Set(files.map((path) => (path.includes('/') ? `${path.slice(0, path.indexOf('/'))}/**` : path))),
  ];
  return tops
    .filter((path) => path !== evaluator && path !== 'hma.yaml' && !path.startsWith('.'))
    .map((path) => {
      const name = path.replace(/\/\*\*$/, '');
      const named =
        /^(solution|src|model|models?|submission|predictions?|train\w*|predict\w*|main|kernel|weights)(\.\w+|\.csv)?$/i.test(
          name,
        );
      return { path, likely: named && !notSolution.test(name) };
    })
    .toSorted(
      (a, b) =>
        Number(b.likely) - Number(a.likely) ||
        Number(notSolution.test(a.path.replace('/**', ''))) - Number(notSolution.test(b.path.replace('/**', ''))) ||
        a.path.localeCompare(b.path),
    );
}

/** A harness that a set-up offers. */
export interface AgentKnown {
  /** Its adapter's name. */
  readonly name: string;
  readonly title: string;
  /** Its program on PATH. */
  readonly program: string;
  /** The variable that usually holds its key. */
  readonly key: string;
}

/** The harnesses by their adapters, the paper's pair first. */
export const agentsKnown: readonly AgentKnown[] = [
  { name: 'claude-code', title: 'Claude Code', program: 'claude', key: 'ANTHROPIC_API_KEY' },
  { name: 'codex', title: 'Codex', program: 'codex', key: 'OPENAI_API_KEY' },
  { name: 'opencode', title: 'opencode', program: 'opencode', key: 'OPENCODE_API_KEY' },
  { name: 'gemini', title: 'Gemini CLI', program: 'gemini', key: 'GEMINI_API_KEY' },
  { name: 'qwen', title: 'Qwen Code', program: 'qwen', key: 'OPENAI_API_KEY' },
  { name: 'kimi', title: 'Kimi Code', program: 'kimi', key: 'MOONSHOT_API_KEY' },
];
