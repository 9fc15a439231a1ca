/** One malformed contract: its text, and each message as [place severity code, what, fix], in order. Written out and read by hand. */
export interface Malformed {
  readonly name: string;
  readonly yaml: string;
  readonly messages: readonly (readonly [where: string, what: string, fix: string])[];
}

const valid = 'objective: Improve it\ncandidate: model.py\nevaluate: [python3, eval.py]\n';

export const malformed: readonly Malformed[] = [
  {
    name: 'an empty file',
    yaml: '',
    messages: [['1:1-1:2 error empty', 'the contract is empty', 'Write at least objective, candidate and evaluate.']],
  },
  {
    name: 'only a comment',
    yaml: '# nothing\n',
    messages: [['1:1-1:2 error empty', 'the contract is empty', 'Write at least objective, candidate and evaluate.']],
  },
  {
    name: 'a list at the root',
    yaml: '- a\n- b\n',
    messages: [
      [
        '1:1-1:2 error wrong_type',
        'the contract must be a mapping of keys and values, not the list ["a","b"]',
        'Write at least objective, candidate and evaluate.',
      ],
    ],
  },
  {
    name: 'a text at the root',
    yaml: 'hello\n',
    messages: [
      [
        '1:1-1:2 error wrong_type',
        'the contract must be a mapping of keys and values, not the text "hello"',
        'Write at least objective, candidate and evaluate.',
      ],
    ],
  },
  {
    name: 'all required keys missing',
    yaml: 'name: x\n',
    messages: [
      ['1:1-1:2 error missing', '`objective` is missing', 'Write the text, or {file: PATH}.'],
      ['1:1-1:2 error missing', '`candidate` is missing', 'Write one path, or a list such as [model.py, weights/**].'],
      [
        '1:1-1:2 error missing',
        '`evaluate` is missing',
        'Write a list of arguments, such as [python3, evaluate.py], or {command: …}.',
      ],
    ],
  },
  {
    name: 'a misspelt required key',
    yaml: 'objectve: Improve it\ncandidate: model.py\nevaluate: [python3, eval.py]\n',
    messages: [['1:1-1:9 error unknown_key', 'unknown key `objectve`', 'Did you mean `objective`?']],
  },
  {
    name: 'an unknown key without a near one',
    yaml: valid + 'colour: red\n',
    messages: [
      [
        '4:1-4:7 error unknown_key',
        'unknown key `colour`',
        'Known keys here: name, objective, candidate, protected, evaluate, validate, grade, metric, feedback, agents, policy, budgets, lateRule, fallback, failures, stall, stopAfterBarren, notify, limits, isolation, prompts, environment, state, private.',
      ],
    ],
  },
  {
    name: 'an unknown nested key',
    yaml: valid + 'budgets: {totl: 1h}\n',
    messages: [['4:11-4:15 error unknown_key', 'unknown key `totl` in `budgets`', 'Did you mean `total`?']],
  },
  {
    name: 'a snake_case key',
    yaml: valid + 'stop_after_barren: 2\n',
    messages: [['4:1-4:18 error unknown_key', 'unknown key `stop_after_barren`', 'Did you mean `stopAfterBarren`?']],
  },
  {
    name: 'an unknown key in evaluate',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: {command: [python3, eval.py], timout: 5m}\n',
    messages: [['3:41-3:47 error unknown_key', 'unknown key `timout` in `evaluate`', 'Did you mean `timeout`?']],
  },
  {
    name: 'an unknown key of an agent',
    yaml: valid + 'agents:\n  A:\n    adapter: codex\n    modell: x\n',
    messages: [['7:5-7:11 error unknown_key', 'unknown key `modell` in `agents.A`', 'Did you mean `model`?']],
  },
  {
    name: 'an unknown key of a threshold',
    yaml: valid + 'metric:\n  thresholds: [{name: gold, score: 1, scor: 2}]\n',
    messages: [
      ['5:39-5:43 error unknown_key', 'unknown key `scor` in `metric.thresholds[0]`', 'Did you mean `score`?'],
    ],
  },
  {
    name: '__proto__ as a key',
    yaml: valid + '__proto__: {x: 1}\n',
    messages: [
      [
        '4:1-4:10 error unknown_key',
        'unknown key `__proto__`',
        'Known keys here: name, objective, candidate, protected, evaluate, validate, grade, metric, feedback, agents, policy, budgets, lateRule, fallback, failures, stall, stopAfterBarren, notify, limits, isolation, prompts, environment, state, private.',
      ],
    ],
  },
  {
    name: 'a duplicate key',
    yaml: valid + 'feedback: blind\nfeedback: score\n',
    messages: [
      ['5:1-5:9 error duplicate_key', '`feedback` stands here a second time (first in line 4)', 'Keep one of the two.'],
    ],
  },
  {
    name: 'a duplicate nested key',
    yaml: valid + 'budgets:\n  total: 1h\n  review: 5m\n  total: 2h\n',
    messages: [
      ['7:3-7:8 error duplicate_key', '`total` stands here a second time (first in line 5)', 'Keep one of the two.'],
    ],
  },
  {
    name: 'a tab as indentation',
    yaml: valid + 'budgets:\n	total: 1h\n',
    messages: [
      [
        '5:1-5:2 error yaml_tab_as_indent',
        'a tab is used for indentation',
        'Indent with spaces; YAML allows no tabs there.',
      ],
    ],
  },
  {
    name: 'a missing quote',
    yaml: valid + 'name: "x\n',
    messages: [
      [
        '4:7-4:8 error yaml_not_closed',
        'this `"` is not closed',
        'Close the text with `"`, or quote it by the other kind of quotes.',
      ],
    ],
  },
  {
    name: 'a colon in an unquoted text',
    yaml: 'objective: Improve: now\ncandidate: model.py\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '1:12-1:13 error yaml_block_as_implicit_key',
        'a second key stands in the same line',
        'Quote a text that contains a colon followed by a space, or begin a new line.',
      ],
    ],
  },
  {
    name: 'a missing space after the colon',
    yaml: 'objective:Improve it\ncandidate: model.py\n',
    messages: [
      [
        '1:1-1:21 error yaml_multiline_implicit_key',
        'a key must lie in one line; perhaps the colon after it is missing',
        'Write `key: value`, with a space after the colon.',
      ],
    ],
  },
  {
    name: 'a bad indentation',
    yaml: 'objective: Improve it\n  candidate: model.py\n',
    messages: [
      [
        '1:12-1:13 error yaml_bad_indent',
        'the line below this value is indented as if it belonged to it',
        'Begin its key in the same column as the keys above.',
      ],
    ],
  },
  {
    name: 'an open list',
    yaml: 'objective: Improve it\ncandidate: [model.py\nevaluate: x\n',
    messages: [
      [
        '2:12-2:13 error yaml_not_closed',
        'this `[` is not closed before line 3',
        'Close it with `]`; where it goes over several lines, indent them.',
      ],
    ],
  },
  {
    name: 'an open mapping at the end',
    yaml: valid + 'budgets: {total: 1h, review: 5m\n',
    messages: [
      [
        '4:10-4:11 error yaml_not_closed',
        'this `{` is not closed before the end of the file',
        'Close it with `}`; where it goes over several lines, indent them.',
      ],
    ],
  },
  {
    name: 'an open list inside a mapping',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: {command: [python3, eval.py}\n',
    messages: [
      [
        '3:21-3:22 error yaml_not_closed',
        'this `[` is not closed before line 3',
        'Close it with `]`; where it goes over several lines, indent them.',
      ],
    ],
  },
  {
    name: 'a list whose lines are not indented',
    yaml: 'objective: Improve it\ncandidate: [\nmodel.py,\n]\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '2:12-2:13 error yaml_not_closed',
        'this `[` is not closed before line 3',
        'Close it with `]`; where it goes over several lines, indent them.',
      ],
    ],
  },
  {
    name: 'a direction in other words',
    yaml: valid + 'metric: {direction: higher}\n',
    messages: [
      [
        '4:21-4:27 error wrong_value',
        '`metric.direction` must be maximize or minimize, not the text "higher"',
        'Did you mean maximize?',
      ],
    ],
  },
  {
    name: 'another direction in other words',
    yaml: valid + 'metric: {direction: lower_is_better}\n',
    messages: [
      [
        '4:21-4:36 error wrong_value',
        '`metric.direction` must be maximize or minimize, not the text "lower_is_better"',
        'Did you mean minimize?',
      ],
    ],
  },
  {
    name: 'a network that is false',
    yaml: valid + 'isolation: {network: false}\n',
    messages: [
      ['4:22-4:27 error wrong_value', '`isolation.network` must be open or none, not false', 'Did you mean none?'],
    ],
  },
  {
    name: 'the objective under another name',
    yaml: 'goal: Improve it\ncandidate: model.py\nevaluate: [python3, eval.py]\n',
    messages: [['1:1-1:5 error unknown_key', 'unknown key `goal`', 'Did you mean `objective`?']],
  },
  {
    name: 'a second document',
    yaml: valid + '---\nname: y\n',
    messages: [
      [
        '4:1-4:4 error yaml_multiple_docs',
        'a second document begins here',
        'Remove the line ---; a contract is one document.',
      ],
    ],
  },
  {
    name: 'an unknown tag',
    yaml: valid + 'name: !name x\n',
    messages: [
      [
        '4:7-4:12 error yaml_tag_resolve_failed',
        'this YAML tag is not known',
        'Remove the tag (the word with !), or quote a text that begins with !.',
      ],
    ],
  },
  {
    name: 'an alias without anchor',
    yaml: valid + 'name: *x\n',
    messages: [
      [
        '4:7-4:9 error unresolved_alias',
        'the alias `*x` has no anchor `&x` before it',
        'Set the anchor first, or quote a text that begins with *.',
      ],
    ],
  },
  {
    name: 'YAML 1.1',
    yaml: '%YAML 1.1\n---\nobjective: Improve it\ncandidate: model.py\nevaluate: [python3, eval.py]\n',
    messages: [
      ['1:1-1:2 error yaml_version', 'the file asks for YAML 1.1', 'Remove the %YAML line; contracts are YAML 1.2.'],
    ],
  },
  {
    name: 'a number for text',
    yaml: valid + 'name: 3\n',
    messages: [['4:7-4:8 error wrong_type', '`name` must be a name, not 3', 'Write a short name.']],
  },
  {
    name: 'an empty section',
    yaml: valid + 'budgets:\n',
    messages: [
      [
        '4:1-4:8 error empty',
        '`budgets` is empty; it must be a mapping',
        'Write a mapping with total, review, experiments, tokens, cost, until.',
      ],
    ],
  },
  {
    name: 'an empty objective',
    yaml: 'objective: ""\ncandidate: model.py\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '1:12-1:14 error wrong_value',
        '`objective` must be the objective’s text, not an empty text',
        'Write the text, or {file: PATH}.',
      ],
    ],
  },
  {
    name: 'an objective file that is missing',
    yaml: 'objective: {file: tsk.md}\ncandidate: model.py\nevaluate: [python3, eval.py]\n',
    messages: [
      ['1:19-1:25 error file_missing', '`objective`: tsk.md does not exist', 'Create it, or correct the path.'],
    ],
  },
  {
    name: 'an objective file that is empty',
    yaml: 'objective: {file: empty.md}\ncandidate: model.py\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '1:19-1:27 error file_empty',
        '`objective`: empty.md is empty',
        'Write into it what the agents are to achieve, or name another file.',
      ],
    ],
  },
  {
    name: 'an objective file that is a folder',
    yaml: 'objective: {file: data}\ncandidate: model.py\nevaluate: [python3, eval.py]\n',
    messages: [['1:19-1:23 error not_a_file', '`objective`: data is a folder', 'Name a file, or rename the folder.']],
  },
  {
    name: 'an objective file that is too large',
    yaml: 'objective: {file: large.md}\ncandidate: model.py\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '1:19-1:27 error file_too_large',
        '`objective`: large.md is larger than 256 KiB',
        'Shorten it to 256 KiB; name longer material by its path.',
      ],
    ],
  },
  {
    name: 'an objective file that is not UTF-8',
    yaml: 'objective: {file: latin.md}\ncandidate: model.py\nevaluate: [python3, eval.py]\n',
    messages: [['1:19-1:27 error not_utf8', '`objective`: latin.md is not UTF-8 (line 2)', 'Save it as UTF-8.']],
  },
  {
    name: 'a bad duration',
    yaml: valid + 'stall: 6 hours\n',
    messages: [
      [
        '4:8-4:15 error wrong_value',
        '`stall` must be a duration above 0, not the text "6 hours"',
        'Write it like 6h, 15m, 90s or 1h30m; a bare number means seconds.',
      ],
    ],
  },
  {
    name: 'a zero duration',
    yaml: valid + 'stall: 0s\n',
    messages: [
      [
        '4:8-4:10 error wrong_value',
        '`stall` must be a duration above 0, not the text "0s"',
        'Write it like 6h, 15m, 90s or 1h30m; a bare number means seconds.',
      ],
    ],
  },
  {
    name: 'a bad size',
    yaml: valid + 'limits: {candidateSize: 2G}\n',
    messages: [
      [
        '4:25-4:27 error wrong_value',
        '`limits.candidateSize` must be a size, not the text "2G"',
        'Write it like 2GB, 64MiB or 512KB; a bare number means bytes.',
      ],
    ],
  },
  {
    name: 'a fractional count',
    yaml: valid + 'limits: {queue: 1.5}\n',
    messages: [
      [
        '4:17-4:20 error wrong_type',
        '`limits.queue` must be a whole number from 1 to 10000, not 1.5',
        'Write a whole number from 1 to 10000.',
      ],
    ],
  },
  {
    name: 'an infinite number',
    yaml: valid + 'metric: {baseline: .inf}\n',
    messages: [
      [
        '4:20-4:24 error wrong_type',
        '`metric.baseline` must be a number, not Infinity',
        'Write a finite number, such as 0.85.',
      ],
    ],
  },
  {
    name: 'a wrong word',
    yaml: valid + 'metric: {direction: max}\n',
    messages: [
      [
        '4:21-4:24 error wrong_value',
        '`metric.direction` must be maximize or minimize, not the text "max"',
        'Did you mean maximize?',
      ],
    ],
  },
  {
    name: 'a wrong word without a near one',
    yaml: valid + 'fallback: median\n',
    messages: [
      [
        '4:11-4:17 error wrong_value',
        '`fallback` must be standing or record, not the text "median"',
        'Write standing or record.',
      ],
    ],
  },
  {
    name: 'a YAML boolean as a word',
    yaml: valid + 'metric: {direction: true}\n',
    messages: [
      [
        '4:21-4:25 error wrong_value',
        '`metric.direction` must be maximize or minimize, not true',
        'Write maximize or minimize.',
      ],
    ],
  },
  {
    name: 'no candidate paths',
    yaml: 'objective: Improve it\ncandidate: []\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '2:12-2:14 error wrong_value',
        '`candidate` must be a path or a list of paths, not an empty list',
        'Write one path, or a list such as [model.py, weights/**].',
      ],
    ],
  },
  {
    name: 'a candidate outside',
    yaml: 'objective: Improve it\ncandidate: [model.py, ../other.py]\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '2:23-2:34 error outside_workspace',
        '`candidate`: ../other.py leaves the workspace',
        'Write a path below the workspace, such as model.py or weights/**.',
      ],
    ],
  },
  {
    name: 'an absolute candidate',
    yaml: 'objective: Improve it\ncandidate: /etc/passwd\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '2:12-2:23 error outside_workspace',
        '`candidate`: /etc/passwd is absolute',
        'Write a path below the workspace, such as model.py or weights/**.',
      ],
    ],
  },
  {
    name: 'a candidate hidden in braces that leaves',
    yaml: 'objective: Improve it\ncandidate: "{a,../b}"\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '2:12-2:22 error outside_workspace',
        '`candidate`: {a,../b} leaves the workspace',
        'Write a path below the workspace, such as model.py or weights/**.',
      ],
    ],
  },
  {
    name: 'a candidate in .hma',
    yaml: 'objective: Improve it\ncandidate: .hma/x\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '2:12-2:18 error candidate_is_contract',
        '`candidate`: .hma/x lies in .hma',
        'Name only what agents are to improve.',
      ],
    ],
  },
  {
    name: 'the contract as candidate',
    yaml: 'objective: Improve it\ncandidate: hma.yaml\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '2:12-2:20 error candidate_is_contract',
        '`candidate`: hma.yaml is the contract itself, which is frozen during a run',
        'Name only what agents are to improve.',
      ],
    ],
  },
  {
    name: 'everything as candidate',
    yaml: 'objective: Improve it\ncandidate: "**"\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '2:12-2:16 error candidate_is_contract',
        '`candidate`: ** includes hma.yaml, which is frozen during a run',
        'Name only what agents are to improve.',
      ],
      [
        '3:21-3:28 warning evaluator_in_candidate',
        '`evaluate`: eval.py belongs to the candidate (**), so agents may change it',
        'Move it out of the candidate’s paths, unless it is what agents are to improve.',
      ],
    ],
  },
  {
    name: 'a negated candidate',
    yaml: 'objective: Improve it\ncandidate: ["src/**", "!src/a"]\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '2:23-2:31 error negated_path',
        '`candidate`: !src/a would exclude, which is not possible here',
        'Name what belongs to it; what is not named does not.',
      ],
    ],
  },
  {
    name: 'a candidate that is protected',
    yaml: valid + 'protected: [model.py]\n',
    messages: [
      [
        '2:12-2:20 error candidate_is_protected',
        '`candidate`: model.py is protected too',
        'Narrow one of the two: agents can’t improve what they must not change.',
      ],
    ],
  },
  {
    name: 'a candidate glob over a protected folder',
    yaml: 'objective: Improve it\ncandidate: ["data/*"]\nevaluate: [python3, eval.py]\nprotected: data/x.csv\n',
    messages: [
      [
        '2:13-2:21 error candidate_is_protected',
        '`candidate`: data/* overlaps the protected data/x.csv',
        'Narrow one of the two: agents can’t improve what they must not change.',
      ],
    ],
  },
  {
    name: 'the objective file as candidate',
    yaml: 'objective: {file: task.md}\ncandidate: task.md\nevaluate: [python3, eval.py]\n',
    messages: [
      [
        '2:12-2:19 error candidate_is_protected',
        '`candidate`: task.md is protected too',
        'Narrow one of the two: agents can’t improve what they must not change.',
      ],
    ],
  },
  {
    name: 'an absolute protected path',
    yaml: valid + 'protected: [/data]\n',
    messages: [
      [
        '4:13-4:18 error outside_workspace',
        '`protected`: /data is absolute',
        'Write a path below the workspace, such as model.py or weights/**.',
      ],
    ],
  },
  {
    name: 'a pipe',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: python3 eval.py | tail -1\n',
    messages: [
      [
        '3:27-3:28 error shell_syntax',
        '`evaluate`: `|` is a pipe, which needs a shell',
        'No shell is started. Put it into a script, or name the shell yourself: [sh, -c, "…"].',
      ],
    ],
  },
  {
    name: 'a pipe in quotes',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: "python3 eval.py | tail -1"\n',
    messages: [
      [
        '3:28-3:29 error shell_syntax',
        '`evaluate`: `|` is a pipe, which needs a shell',
        'No shell is started. Put it into a script, or name the shell yourself: [sh, -c, "…"].',
      ],
    ],
  },
  {
    name: 'a variable',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: {command: python3 eval.py $HMA_CANDIDATE}\n',
    messages: [
      [
        '3:37-3:38 error shell_syntax',
        '`evaluate`: `$HMA_CANDIDATE` is a shell variable, which needs a shell',
        'The program finds HMA_CANDIDATE in its environment: read it there.',
      ],
    ],
  },
  {
    name: 'a whole command as one item',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: [python3 eval.py]\n',
    messages: [
      [
        '3:11-3:28 error bad_command',
        '`evaluate`: the list has one item, "python3 eval.py", which would be the name of the program',
        'Write one item per argument: [python3, eval.py].',
      ],
    ],
  },
  {
    name: 'a number as an argument',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: [python3, eval.py, 3]\n',
    messages: [
      ['3:30-3:31 error wrong_type', '`evaluate[2]` must be text, not 3', 'Quote it, so that YAML keeps it as text.'],
    ],
  },
  {
    name: 'an empty program',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: ["", eval.py]\n',
    messages: [
      [
        '3:11-3:24 error bad_command',
        '`evaluate`: the program’s name is empty',
        'Write a program and its arguments, such as [python3, evaluate.py].',
      ],
    ],
  },
  {
    name: 'a script that does not exist',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: [python3, -u, evl.py]\n',
    messages: [
      [
        '3:25-3:31 error file_missing',
        '`evaluate`: evl.py does not exist in the workspace',
        'Create it, or correct the path; it is relative to `cwd` in a checkout of the workspace.',
      ],
    ],
  },
  {
    name: 'a program path that does not exist',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: ./run.sh --fast\n',
    messages: [
      [
        '3:11-3:26 error file_missing',
        '`evaluate`: run.sh does not exist in the workspace',
        'Create it, or correct the path; it is relative to `cwd` in a checkout of the workspace.',
      ],
    ],
  },
  {
    name: 'a cwd outside',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: {command: [python3, eval.py], cwd: ..}\n',
    messages: [
      [
        '3:46-3:48 error outside_workspace',
        '`evaluate.cwd`: .. leaves the workspace',
        'Write a folder below the workspace; the command runs in a checkout of it.',
      ],
    ],
  },
  {
    name: 'a pattern that does not compile',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: {command: [python3, eval.py], result: {pattern: "score: ("}}\n',
    messages: [
      [
        '3:49-3:70 warning forgeable_result',
        'candidate code can print to standard output too, and so forge its score',
        'Let the evaluator write JSON into the file that HMA_RESULT names, and remove `result`.',
      ],
      [
        '3:59-3:69 error bad_pattern',
        '`evaluate.result.pattern` is no regular expression: /score: (/: Unterminated group',
        "Write a regular expression with one group around the number, such as 'score: ([-+.e\\d]+)'.",
      ],
    ],
  },
  {
    name: 'a pattern without a group',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: {command: [python3, eval.py], result: {pattern: "score"}}\n',
    messages: [
      [
        '3:49-3:67 warning forgeable_result',
        'candidate code can print to standard output too, and so forge its score',
        'Let the evaluator write JSON into the file that HMA_RESULT names, and remove `result`.',
      ],
      [
        '3:59-3:66 error bad_pattern',
        '`evaluate.result.pattern` has no group',
        "Write a regular expression with one group around the number, such as 'score: ([-+.e\\d]+)'.",
      ],
    ],
  },
  {
    name: 'a wrong result',
    yaml: 'objective: Improve it\ncandidate: model.py\nevaluate: {command: [python3, eval.py], result: stdout}\n',
    messages: [
      [
        '3:49-3:55 error wrong_type',
        '`evaluate.result` must be file, last-line or {pattern: …}, not the text "stdout"',
        'Write file, and let the evaluator write JSON into $HMA_RESULT.',
      ],
    ],
  },
  {
    name: 'a hidden path that does not exist',
    yaml: valid + 'grade: {command: [python3, eval.py], hidden: [/nowhere/labels.csv]}\n',
    messages: [
      [
        '4:47-4:66 error file_missing',
        '`grade.hidden`: /nowhere/labels.csv does not exist',
        'Create it, or correct the path.',
      ],
    ],
  },
  {
    name: 'a hidden path in the workspace without isolation',
    yaml: valid + 'isolation: none\ngrade: {command: [python3, eval.py], hidden: [secret/labels.csv]}\n',
    messages: [
      [
        '5:1-5:6 warning agents_can_read',
        'without isolation agents can read `grade` here',
        'Move it to a file outside the workspace that `private` names, or allow isolation.',
      ],
      [
        '5:47-5:64 error hidden_in_workspace',
        '`grade.hidden`: secret/labels.csv lies in the workspace, and without isolation agents can read it',
        'Move it out of the workspace.',
      ],
    ],
  },
  {
    name: 'a hidden path around the workspace',
    yaml: valid + 'grade: {command: [python3, eval.py], hidden: [/]}\n',
    messages: [
      [
        '4:47-4:48 error hides_workspace',
        '`grade.hidden`: / contains the workspace, so agents would see nothing',
        'Name only what must be hidden.',
      ],
    ],
  },
  {
    name: 'validate that runs the evaluator',
    yaml: valid + 'validate: [python3, eval.py]\n',
    messages: [
      [
        '4:11-4:29 error validate_is_evaluate',
        '`validate` runs the evaluator, which would give uncounted scores away',
        'Let it check only the candidate’s form, or remove it.',
      ],
    ],
  },
  {
    name: 'a review as long as the run',
    yaml: valid + 'budgets: {total: 1h, review: 60m}\n',
    messages: [
      [
        '4:30-4:33 error review_too_long',
        'the review (1 h) leaves no time to explore: the total is 1 h',
        'Make budgets.review shorter than budgets.total, such as 2m30s.',
      ],
    ],
  },
  {
    name: 'a total below the default review',
    yaml: valid + 'budgets: {total: 10m}\n',
    messages: [
      [
        '4:18-4:21 error review_too_long',
        'the review (15 min unless written) leaves no time to explore: the total is 10 min',
        'Make budgets.review shorter than budgets.total, such as 25s.',
      ],
    ],
  },
  {
    name: 'a cap of 0',
    yaml: valid + 'policy: {cap: 0}\n',
    messages: [
      [
        '4:15-4:16 error wrong_value',
        '`policy.cap` must be a whole number from 1, or none, not 0',
        'Write a number from 1, or none for no limit.',
      ],
    ],
  },
  {
    name: 'a number of tokens with a foreign unit, and a free run',
    yaml: valid + 'budgets: {tokens: 5MB, cost: 0}\n',
    messages: [
      [
        '4:19-4:22 error wrong_value',
        '`budgets.tokens` must be a number of tokens or none, not the text "5MB"',
        'Write it like 5M, 200k or 1.5B, a whole number, or none.',
      ],
      [
        '4:30-4:31 error wrong_value',
        '`budgets.cost` must be an amount in US dollars or none, not 0',
        'Write a number above 0, such as 20 or 12.5, or none.',
      ],
    ],
  },
  {
    name: 'a cap in words',
    yaml: valid + 'policy: {cap: five}\n',
    messages: [
      [
        '4:15-4:19 error wrong_type',
        '`policy.cap` must be a whole number from 1, or none, not the text "five"',
        'Write a number from 1, or none for no limit.',
      ],
    ],
  },
  {
    name: 'a wrong policy',
    yaml: valid + 'policy: altrnate\n',
    messages: [
      [
        '4:9-4:17 error wrong_type',
        '`policy` must be alternate, single or a mapping, not the text "altrnate"',
        'Did you mean alternate?',
      ],
    ],
  },
  {
    name: 'a date without time',
    yaml: valid + 'budgets: {until: 2026-12-01}\n',
    messages: [
      [
        '4:18-4:28 error wrong_value',
        '`budgets.until` must be a date and time, not the text "2026-12-01"',
        'Write it like 2026-12-01T18:00Z, with +01:00 or the like for another zone; without a zone it is local time.',
      ],
    ],
  },
  {
    name: 'a date that does not exist',
    yaml: valid + 'budgets: {until: "2027-02-30T10:00Z"}\n',
    messages: [
      [
        '4:18-4:37 error wrong_value',
        '`budgets.until` must be a date and time, not the text "2027-02-30T10:00Z"',
        'Write it like 2026-12-01T18:00Z, with +01:00 or the like for another zone; without a zone it is local time.',
      ],
    ],
  },
  {
    name: 'a date that has passed',
    yaml: valid + 'budgets: {until: "2020-01-01T00:00Z"}\n',
    messages: [
      [
        '4:18-4:37 error until_is_past',
        '`budgets.until` (2020-01-01T00:00:00.000Z) has passed',
        'Write a time to come, or remove it.',
      ],
    ],
  },
  {
    name: 'a date too near',
    yaml: valid + 'budgets: {until: 2026-11-30T12:10Z}\n',
    messages: [
      [
        '4:18-4:35 error until_too_near',
        '`budgets.until` is 10 min away: that leaves no time beside the review (15 min)',
        'Write a later time, or a shorter budgets.review.',
      ],
    ],
  },
  {
    name: 'agents of the same name',
    yaml: valid + 'agents: {A: {name: Ada, adapter: codex}, B: {name: ADA, adapter: codex}}\n',
    messages: [
      [
        '4:52-4:55 error same_names',
        'both agents are named `ADA`',
        'Give them different names; people tell them apart by these.',
      ],
    ],
  },
  {
    name: 'an agent without adapter',
    yaml: valid + 'agents: {A: {name: Ada}}\n',
    messages: [
      [
        '4:10-4:11 error missing',
        '`agents.A` names neither adapter nor command',
        'Write adapter: claude-code, codex, …, or a command of your own.',
      ],
    ],
  },
  {
    name: 'the command adapter without command',
    yaml: valid + 'agents: {A: command}\n',
    messages: [
      [
        '4:13-4:20 error missing',
        '`agents.A` uses the adapter `command` without a command',
        'Write command: [my-agent, --prompt, "{promptFile}"].',
      ],
    ],
  },
  {
    name: 'an adapter that does not exist',
    yaml: valid + 'agents: {A: claude_code}\n',
    messages: [
      ['4:13-4:24 error unknown_adapter', '`agents.A`: there is no adapter `claude_code`', 'Did you mean claude-code?'],
    ],
  },
  {
    name: 'an adapter that is not known',
    yaml: valid + 'agents:\n  A: claude\n',
    messages: [
      ['5:6-5:12 error unknown_adapter', '`agents.A`: there is no adapter `claude`', 'Did you mean claude-code?'],
    ],
  },
  {
    name: 'a value as environment',
    yaml: valid + 'environment: [CUDA_VISIBLE_DEVICES=0]\n',
    messages: [
      [
        '4:15-4:37 error wrong_value',
        '`environment[0]` must be the name of a variable, not the text "CUDA_VISIBLE_DEVICES=0"',
        'Write the name only, such as CUDA_VISIBLE_DEVICES; its value comes from the environment of `hma run`.',
      ],
    ],
  },
  {
    name: 'a reserved variable',
    yaml: valid + 'environment: [HMA_TOKEN]\n',
    messages: [
      [
        '4:15-4:24 error reserved_variable',
        '`HMA_TOKEN`: variables that begin with HMA_ are set by the controller',
        'Remove it.',
      ],
    ],
  },
  {
    name: 'a threshold outside the range',
    yaml: valid + 'metric: {range: [0, 1], thresholds: {gold: 90}}\n',
    messages: [
      [
        '4:44-4:46 error outside_range',
        'the threshold `gold` (90) lies outside the range 0 … 1',
        'Correct it, or widen metric.range.',
      ],
    ],
  },
  {
    name: 'a listed threshold outside the range',
    yaml: valid + 'metric:\n  range: [0, 1]\n  thresholds:\n    - {name: gold, score: 90}\n',
    messages: [
      [
        '7:7-7:30 error outside_range',
        'the threshold `gold` (90) lies outside the range 0 … 1',
        'Correct it, or widen metric.range.',
      ],
    ],
  },
  {
    name: 'an empty range',
    yaml: valid + 'metric: {range: [1, 0]}\n',
    messages: [['4:17-4:23 error empty_range', '`metric.range` is empty: 1 is not below 0', 'Write [least, most].']],
  },
  {
    name: 'a range of one number',
    yaml: valid + 'metric: {range: [1]}\n',
    messages: [
      [
        '4:17-4:20 error wrong_value',
        '`metric.range` must be [least, most], not the list [1]',
        'Write two numbers, such as [0, 1]; null leaves a side open.',
      ],
    ],
  },
  {
    name: 'a baseline equal to the reference',
    yaml: valid + 'metric: {baseline: 0.5, reference: 0.5}\n',
    messages: [
      [
        '4:36-4:39 error baseline_is_reference',
        '`metric.reference` equals the baseline (0.5): there is no scale between them',
        'Give the score before any work as baseline and a good one as reference, or leave one out.',
      ],
    ],
  },
  {
    name: 'a negative noise',
    yaml: valid + 'metric: {noise: -1}\n',
    messages: [
      [
        '4:17-4:19 error wrong_value',
        '`metric.noise` must be a number from 0, not -1',
        'Write how much the score wavers by itself, such as 0.002.',
      ],
    ],
  },
  {
    name: 'two thresholds of one name',
    yaml: valid + 'metric: {thresholds: [{name: a, score: 1}, {name: a, score: 2}]}\n',
    messages: [['4:44-4:63 error same_names', 'two thresholds are named `a`', 'Give each its own name.']],
  },
  {
    name: 'an ftp URL',
    yaml: valid + 'notify: ftp://example.org/x\n',
    messages: [
      [
        '4:9-4:28 error bad_url',
        "`notify` can't call ftp://; only http and https are called",
        'Write https://example.org/hook, a command as a list such as [my-notifier, --quiet], or none.',
      ],
    ],
  },
  {
    name: 'a javascript URL',
    yaml: valid + 'notify: {url: "javascript:alert(1)"}\n',
    messages: [
      [
        '4:15-4:36 error bad_url',
        '`notify` is neither a list nor a URL: "javascript:alert(1)"',
        'Write https://example.org/hook, a command as a list such as [my-notifier, --quiet], or none.',
      ],
    ],
  },
  {
    name: 'a program’s name for notify',
    yaml: valid + 'notify: notify-send\n',
    messages: [
      [
        '4:9-4:20 error bad_url',
        '`notify` is neither a list nor a URL: "notify-send"',
        'Write https://example.org/hook, a command as a list such as [my-notifier, --quiet], or none.',
      ],
    ],
  },
  {
    name: 'a grace beyond the review',
    yaml: valid + 'lateRule: {rule: submitted, grace: 1h}\n',
    messages: [
      [
        '4:36-4:38 error grace_too_long',
        'the grace (1 h) must lie inside the review’s reserve (15 min)',
        'Make it shorter than budgets.review.',
      ],
    ],
  },
  {
    name: 'a state folder in the workspace',
    yaml: valid + 'state: ./state\n',
    messages: [
      [
        '4:8-4:15 error state_in_workspace',
        '`state` lies in the workspace, where agents could read and change it',
        'Name a folder outside, or remove the line.',
      ],
    ],
  },
  {
    name: 'a private file in the workspace',
    yaml: valid + 'private: secret.yaml\n',
    messages: [
      [
        '4:10-4:21 error private_in_workspace',
        '`private`: secret.yaml lies in the workspace, where agents can read it',
        'Move it out of the workspace, such as to ~/.config/hma/.',
      ],
    ],
  },
  {
    name: 'a private file that is missing',
    yaml: valid + 'private: /nowhere/private.yaml\n',
    messages: [
      [
        '4:10-4:31 error file_missing',
        '`private`: /nowhere/private.yaml does not exist',
        'Create it, or correct the path.',
      ],
    ],
  },
  {
    name: 'many at once',
    yaml: 'objectve: x\ncandidate: [../a, model.py]\nevaluate: python3 eval.py > out\nbudgets: {total: soon}\nnotify: ftp://x\n',
    messages: [
      ['1:1-1:9 error unknown_key', 'unknown key `objectve`', 'Did you mean `objective`?'],
      [
        '2:13-2:17 error outside_workspace',
        '`candidate`: ../a leaves the workspace',
        'Write a path below the workspace, such as model.py or weights/**.',
      ],
      [
        '3:27-3:28 error shell_syntax',
        '`evaluate`: `>` is a redirection, which needs a shell',
        'No shell is started. Put it into a script, or name the shell yourself: [sh, -c, "…"].',
      ],
      [
        '4:18-4:22 error wrong_value',
        '`budgets.total` must be a duration above 0, not the text "soon"',
        'Write it like 6h, 15m, 90s or 1h30m; a bare number means seconds.',
      ],
      [
        '5:9-5:16 error bad_url',
        "`notify` can't call ftp://; only http and https are called",
        'Write https://example.org/hook, a command as a list such as [my-notifier, --quiet], or none.',
      ],
    ],
  },
];
