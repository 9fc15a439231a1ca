import { shipped, type ImportedTask } from './importTask.ts';
import { reviewFor } from './setupWrite.ts';

/** The templates that `hma init --template` knows. */
export const templates = ['kernel'] as const;

/** Cycles of the kernel that the template begins with. */
const baseline = 4354;

/**
 * A small task that runs as it is: a program for a cycle-counting simulator, whose folder must stay untouched. Fewer cycles are better. To
 * be made into one's own: another simulator in `tests`, another kernel.
 */
export function kernelTemplate(total: string = '1h'): ImportedTask {
  const part = (path: string) => ({ to: path, copy: shipped('templates', 'kernel', path) });
  return {
    contract: {
      name: 'kernel',
      origin: 'The template kernel',
      objectiveFile: 'OBJECTIVE.md',
      candidate: ['kernel.s'],
      protected: ['tests/**'],
      evaluate: { command: ['node', 'tests/evaluate.mjs'], timeout: '1m', hidden: [], binds: [] },
      grade: null,
      metric: { name: 'cycles', direction: 'minimize', baseline },
      feedback: 'score',
      isolation: { readable: [], hidden: [] },
      total,
      review: reviewFor(total),
    },
    workspace: ['OBJECTIVE.md', 'kernel.s', 'tests'].map(part),
    hidden: [],
    remarks: [],
  };
}
