import { checks } from './checks.ts';
import { contract } from './contract.ts';
import type { ExplainedWords } from './sections.ts';
import { exits, notifications, starts } from './starts.ts';

// Messages that bring their own remedy are explained in docs/messages.md alone: what `hma explain` knows is in everybody's package.

/** What is said before a run is there. */
export const beforeRuns: readonly ExplainedWords[] = [
  {
    kind: 'finding of hma check',
    title: 'What hma check finds',
    where:
      'Entries marked `stop` (they keep a run from starting or from getting anywhere) or `note`; in VS Code *HMA: Check the Task*. The code is `code` in `hma check --json`. `hma doctor` is the same command.',
    words: checks,
  },
  {
    kind: 'message about the contract',
    title: 'The contract',
    where:
      'Lines such as `hma.yaml:12:3: error: … [unknown_key]` from `hma check` and `hma run`, and the same underlined in the editor. An error keeps a run from starting; a warning does not. What each looks like, case by case: [bad-input.md](bad-input.md).',
    words: contract,
  },
  {
    kind: 'refused start',
    title: 'When a run does not start',
    where:
      '`hma run`, `hma resume` and *HMA: Start Alternation* say it in words; the code is `code` with `--json`. A refused start leaves nothing behind.',
    words: starts,
  },
];

/** What others than a person at a screen are told. */
export const toOthers: readonly ExplainedWords[] = [
  {
    kind: 'notification',
    title: 'Notifications outside',
    where:
      'What `notify` in `hma.yaml` (a command that reads JSON from its input, or a URL that gets it by POST) is told: `kind`, `run`, `workspace`, `text`, `wall`. `hma notify --test` sends one.',
    words: notifications,
  },
  {
    kind: 'exit code',
    title: 'Exit codes',
    where: "`echo $?` after a person's command. Those of the commands inside a session are in [json.md](json.md).",
    words: exits,
  },
];
