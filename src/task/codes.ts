/** A fault of YAML itself, named after the parser's own kind of error. */
type YamlCode = `yaml_${string}`;

/** Stable names of all that can be said about a contract; each is explained in docs/messages.md (src/cli/explain/contract.ts). */
export type ContractCode =
  | YamlCode
  // the file
  | 'alias_bomb'
  | 'duplicate_key'
  | 'file_empty'
  | 'file_missing'
  | 'file_too_large'
  | 'file_unreadable'
  | 'not_a_file'
  | 'not_utf8'
  | 'too_deep'
  | 'unresolved_alias'
  // keys and values
  | 'empty'
  | 'missing'
  | 'unknown_key'
  | 'unused'
  | 'wrong_type'
  | 'wrong_value'
  // the private file
  | 'agents_can_read'
  | 'key_in_both'
  | 'private_in_private'
  | 'private_in_workspace'
  // agents
  | 'preset_needs_model'
  | 'preset_not_for_adapter'
  | 'reserved_variable'
  | 'same_names'
  | 'unknown_adapter'
  | 'unknown_preset'
  // candidate and protected files
  | 'candidate_is_contract'
  | 'candidate_is_protected'
  | 'negated_path'
  | 'outside_workspace'
  // evaluator, validator, grader
  | 'absolute_in_workspace'
  | 'bad_bind'
  | 'bad_command'
  | 'bad_pattern'
  | 'bad_url'
  | 'binds_need_bubblewrap'
  | 'blind_without_grade'
  | 'evaluator_in_candidate'
  | 'forgeable_result'
  | 'hidden_in_workspace'
  | 'hides_workspace'
  | 'names_no_file'
  | 'shell_operator'
  | 'shell_syntax'
  | 'state_in_workspace'
  | 'timeout_too_long'
  | 'validate_is_evaluate'
  // metric
  | 'baseline_is_reference'
  | 'empty_range'
  | 'outside_range'
  | 'reference_is_worse'
  // budgets
  | 'grace_too_long'
  | 'review_too_long'
  | 'until_is_past'
  | 'until_too_near';
