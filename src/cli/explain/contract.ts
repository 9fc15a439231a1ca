import type { ContractCode } from '../../task/codes.ts';
import type { Explanation } from './explanation.ts';

/** Codes of the contract; those of YAML itself are one. */
type Told = Exclude<ContractCode, `yaml_${string}`> | 'yaml_…';

const placeOf = 'Correct the path.';

/** What can be said about `hma.yaml`, its private file and what they name. The message itself has the place and the fix. */
export const contract: Readonly<Record<Told, Explanation>> = {
  'yaml_…': {
    means:
      "The file is no valid YAML at that place (`yaml_bad_indent`, `yaml_not_closed`, `yaml_tab_as_indent` …, named after the parser's error).",
    you: 'Correct it there; quote texts that hold `: # { } [ ] * &`.',
  },
  alias_bomb: { means: 'Aliases (`*name`) unfold into more than any contract needs.', you: 'Write it out.' },
  duplicate_key: { means: 'A key stands twice in one mapping.', you: 'Keep one.' },
  file_empty: { means: 'A file that a key names is empty, such as a prompt.', you: 'Write it, or remove the key.' },
  file_missing: {
    means:
      'A file or folder that the contract names does not exist; of the contract itself: there is no `hma.yaml` here.',
    you: `${placeOf} \`hma init\` writes a contract.`,
  },
  file_too_large: {
    means: 'A text file is larger than any contract or prompt needs.',
    you: 'Name the file that was meant.',
  },
  file_unreadable: { means: 'A file may not be read, or its file system fails.', you: 'Check its rights.' },
  not_a_file: { means: 'A folder, socket or device stands where a file is meant.', you: placeOf },
  not_utf8: { means: 'A text is not UTF-8.', you: 'Save it as UTF-8.' },
  too_deep: { means: 'The file is nested too deeply.', you: 'A contract needs five levels at most.' },
  unresolved_alias: {
    means: 'An alias `*name` has no anchor `&name` before it.',
    you: 'Quote a text that begins with `*`.',
  },
  empty: { means: 'A key has no value, or the contract is empty.', you: 'Fill it in, or remove the key.' },
  missing: { means: 'A key that is needed is not there.', you: 'Add it; `hma init` shows the form.' },
  unknown_key: { means: 'A key that hma does not know, mostly misspelt.', you: 'Take the suggested one.' },
  unused: {
    means: 'A key has no effect together with another, such as a review with a single agent.',
    you: 'Remove it.',
  },
  wrong_type: {
    means: 'A text stands where a list is meant, or the like.',
    you: 'Write the form that the message names.',
  },
  wrong_value: { means: 'The value is not one of those possible.', you: 'Write one that is.' },
  agents_can_read: {
    means: 'Without isolation agents can read a key in `hma.yaml` that they should not know (grader, thresholds, cap).',
    you: 'Move it to the file that `private` names, or use a tier.',
  },
  key_in_both: { means: 'A key stands in the contract and in the private file.', you: 'Keep one.' },
  private_in_private: { means: 'The private file names another.', you: 'Keep all in one.' },
  private_in_workspace: {
    means: 'The private file lies where agents can read it.',
    you: 'Move it out of the workspace.',
  },
  preset_needs_model: { means: 'A preset leads to many models, and none is named.', you: 'Add `model`.' },
  preset_not_for_adapter: {
    means: 'The adapter does not speak the protocol of that preset.',
    you: 'See the table in agents.md.',
  },
  reserved_variable: { means: 'Variables that begin with `HMA_` are set by the controller.', you: 'Remove it.' },
  same_names: { means: 'Two agents or two thresholds have one name.', you: 'Rename one.' },
  unknown_adapter: { means: 'There is no such adapter.', you: '`hma agents` lists them.' },
  unknown_preset: {
    means: 'There is no such preset.',
    you: '`hma agents` lists them; or write `baseUrl`, `keyVariable` and `model`.',
  },
  candidate_is_contract: {
    means: 'A candidate path takes in `hma.yaml`, `.hma` or `.git`.',
    you: 'Name only what agents are to improve.',
  },
  candidate_is_protected: { means: 'A path is candidate and protected at once.', you: 'Narrow one of the two.' },
  negated_path: { means: '`!path` would exclude, which is not possible.', you: 'Name what belongs to it.' },
  outside_workspace: { means: 'A path leaves the workspace, or is absolute.', you: 'Write one below it.' },
  absolute_in_workspace: {
    means:
      "A command names the workspace's own script by its absolute path, so the copy that agents can change would run.",
    you: 'Write the relative path; it runs in a fresh checkout.',
  },
  bad_bind: {
    means: 'A path of `evaluate.binds` is not possible.',
    you: 'Absolute and not of the system on the right, below the checkout or absolute on the left.',
  },
  bad_command: {
    means: 'A command has an empty program, or is one item with spaces.',
    you: 'Write one item per argument.',
  },
  bad_pattern: {
    means: 'The pattern of the result is no regular expression with one group.',
    you: 'Put parentheses around the number.',
  },
  bad_url: { means: '`notify` is no http(s) URL.', you: 'Correct it, or write a command.' },
  binds_need_bubblewrap: {
    means: '`evaluate.binds` needs the tier bubblewrap.',
    you: 'Write `isolation: bubblewrap`, or do without absolute paths.',
  },
  blind_without_grade: { means: 'A blind task without `grade` shows nobody a score.', you: 'Add a grader.' },
  evaluator_in_candidate: {
    means: 'A file of the evaluator belongs to the candidate: agents may change what judges them.',
    you: 'Move it out, unless that is the task.',
  },
  forgeable_result: {
    means: 'The score is read from standard output, where candidate code can print one too.',
    you: 'Let the evaluator write to `$HMA_RESULT`.',
  },
  hidden_in_workspace: {
    means: 'A hidden path lies in the workspace: only the tier keeps it from agents.',
    you: 'Move it out.',
  },
  hides_workspace: { means: 'A hidden path contains the workspace.', you: 'Name only what must be hidden.' },
  names_no_file: {
    means: '`evaluate` names no file of the workspace, so nothing of it is protected.',
    you: 'List its files under `protected`.',
  },
  shell_operator: {
    means: 'A `|`, `&&` or `>` in a list is an argument: no shell reads it.',
    you: 'Put the line into a script.',
  },
  shell_syntax: {
    means: 'A command as text uses syntax of a shell.',
    you: 'Put it into a script, or write `[sh, -c, "…"]`.',
  },
  state_in_workspace: { means: '`state` lies where agents could change it.', you: 'Name a folder outside.' },
  timeout_too_long: {
    means: 'One evaluation may take longer than all of exploration.',
    you: 'Shorten `evaluate.timeout`, or lengthen `budgets.total`.',
  },
  validate_is_evaluate: {
    means: '`validate` runs the evaluator: it would give scores away that count for nothing.',
    you: 'Let it check the form only.',
  },
  baseline_is_reference: {
    means: '`metric.baseline` and `reference` are equal: no scale lies between them.',
    you: 'Correct or leave out one.',
  },
  empty_range: { means: "`metric.range`'s least is not below its most.", you: 'Write `[least, most]`.' },
  outside_range: {
    means: 'A baseline, reference or threshold lies outside `metric.range`.',
    you: 'Correct it, or widen the range.',
  },
  reference_is_worse: {
    means: 'The reference is worse than the baseline in the direction of `metric`.',
    you: 'Exchange them, or correct `direction`.',
  },
  grace_too_long: { means: '`lateRule.grace` is not shorter than the review.', you: 'Shorten it.' },
  review_too_long: { means: '`budgets.review` leaves no time to explore.', you: 'Shorten it.' },
  until_is_past: { means: '`budgets.until` has passed.', you: 'Write a time to come.' },
  until_too_near: { means: '`budgets.until` leaves no time beside the review.', you: 'Write a later one.' },
};
