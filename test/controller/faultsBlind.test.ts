import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { blindReceiptText } from '../../src/evaluators/blindReceipt.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { tiersHere } from '../machines/machineRoom.ts';
import { outputOf } from '../rig/run.ts';
import { startFaultRun } from '../rig/faultRun.ts';
import { testFolders } from '../rig/task.ts';

const evaluator = `read -r word < "$HMA_CANDIDATE/candidate.txt"
[ "$word" = crash ] && { echo the evaluator says something secret; exit 3; }
echo "{\\"score\\": $((7000 + word)).5}" > "$HMA_RESULT"
`;

/** Prints everything that a session can see, and the files it can read in which a score, a threshold or a grade stands. */
const snoop = `set +e; env; cat "$HMA_PROMPT"; hma archive; hma archive --json; hma status; hma status --json; hma archive get initial; cat "$HMA_WORKSPACE"/.hma/*; ls -laR "$PWD" "$(dirname "$HMA_PROMPT")"; cat "$HMA_WORKSPACE/hma.yaml"; ls /tmp/hma-*/c; grep -rslE -D skip "733[12][.]5|918[2][.]75|655[3][.]25" "$HMA_WORKSPACE" "$HOME" "$TMPDIR" "$PWD" "$(dirname "$HMA_PROMPT")" /tmp /run /var/tmp | sed "s/^/FOUND /";`;

describe('a blind task', () => {
  // the strongest tier that works here; in tier none nothing is hidden, which is told
  it(`shows sessions neither scores, thresholds, cap nor grades, wherever they look (tier ${tiersHere[0]})`, async () => {
    using outside = testFolders();
    const hidden = join(outside.root, 'hidden');
    mkdirSync(hidden);
    writeFileSync(join(hidden, 'grade.sh'), 'echo \'{"score": 6553.25}\' > "$HMA_RESULT"\n');
    for (const path of [outside.root, hidden]) chmodSync(path, 0o755);
    await using run = await startFaultRun(
      {
        A: {
          '1.1': 'submit 331 "--note first --score 0.5"; hold',
          review: `${snoop} hma nominate e1 --reason "by the files"; exit 0`,
        },
        B: { '2.1': `${snoop} submit crash; submit 331; submit 332; exec sleep 1000` },
        contract: {
          feedback: 'blind',
          policy: { cap: 1 },
          evaluate: ['sh', 'blind.sh'],
          metric: { name: 'number', direction: 'maximize', thresholds: { gold: 9182.75 } },
          grade: { command: ['sh', join(hidden, 'grade.sh')], hidden: [hidden] },
          budgets: { total: '30m', review: '5m', experiments: 2 },
          isolation: tiersHere[0],
        },
      },
      {
        before: ({ root, workspace }) => (
          writeFileSync(join(workspace, 'blind.sh'), evaluator),
          chmodSync(root, 0o755)
        ),
      },
    );
    const state = await run.finished();
    expect(
      state.archive.map(({ id, score, grade }) => ({
        id,
        score,
        grade: grade?.kind === 'graded' ? grade.grade : grade,
      })),
    ).toEqual([
      { id: 'e1', score: 7331.5, grade: 6553.25 },
      { id: 'e4', score: 7332.5, grade: 6553.25 },
    ]);
    expect(state.review).toMatchObject({ outcome: 'chosen' });
    const seen = ['option-1', 'option-2', 'review'].map((session) => outputOf(run.runFolder, session));
    const prompts = ['option-1', 'option-2', 'review'].map((session) =>
      readFileSync(join(runFiles(run.runFolder).sessions, session, 'shown', 'prompt.md'), 'utf8'),
    );
    for (const text of [...seen, ...prompts])
      expect(
        text.match(/.*(?:733[12]\.5|9182|6553|FOUND|something secret|gold|"cap"|inSession|improved).*/g),
      ).toBeNull();
    const [first = '', second = ''] = seen;
    expect(first).toMatch(/\{"id":"e1","outcome":"accepted","remaining":/);
    expect(second).toContain(`"code":"invalid","reason":"${blindReceiptText('invalid')}"`);
    expect(second).toContain(`"code":"duplicate","reason":"${blindReceiptText('duplicate')}"`);
    expect(second).toMatch(/e1\*? +peer +1 +0\.5/);
    expect(second).toMatch(/hma\.yaml: (?:No such file|Permission denied)/);
  });
});
