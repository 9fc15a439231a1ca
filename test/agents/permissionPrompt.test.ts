import { expect, it } from 'vitest';

import { permissionPromptIn } from '../../src/agents/permissionPrompt.ts';

it.each([
  'Do you want to proceed?\n❯ 1. Yes\n  2. No, and tell Claude what to do differently (esc)\n',
  'Allow this command? [y/N] ',
  '\u001B[1mDo you trust the files in this folder?\u001B[0m',
  'Bash(rm -rf build) requires approval',
  'Overwrite config.toml? (y/n)',
  'Press Enter to continue',
  '{"type":"control_request","request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash"}}',
  '{"id":4,"method":"item/commandExecution/requestApproval","params":{"command":"make"}}',
])('a question that nobody can answer: %j', (output) => expect(permissionPromptIn(output)).not.toBeNull());

it.each([
  '',
  'epoch 4: loss 0.31',
  'I asked: Do you want to proceed? Nobody answered, so I went on.\na\nb\nc\nd\ne\nf',
  'The tests pass. Next I run the evaluator.',
  'permission denied: /root',
])('no question: %j', (output) => expect(permissionPromptIn(output)).toBeNull());

it('keeps it short', () =>
  expect(permissionPromptIn(`Do you want to proceed with ${'x'.repeat(500)}?`)?.length).toBe(201));
