/** Questions by which harnesses and shells wait for a person, as their last words; sources: the pinned CLIs' own texts and protocols. */
const questions: readonly RegExp[] = [
  /do you want to (?:proceed|continue|allow|make this edit|create|run|trust)\b.*\?/iu,
  /\b(?:allow|approve|permit) (?:this |the )?(?:command|tool|action|edit|execution|changes?)\b.*\?/iu,
  /\bdo you trust (?:the (?:files|contents|authors)|this folder)\b/iu,
  /\b(?:requires?|needs?|awaiting|waiting for) (?:your |user )?(?:approval|permission|confirmation)\b/iu,
  /[[(]\s*y(?:es)?\s*\/\s*n(?:o)?\s*[\])]\s*[:?]?\s*$/iu,
  /\bpress (?:enter|return|any key) to (?:continue|confirm)\b/iu,
  /❯\s*1\.\s*yes\b/iu,
  /"subtype"\s*:\s*"can_use_tool"/u,
  /"method"\s*:\s*"(?:item\/\w+\/requestApproval|execCommandApproval|applyPatchApproval|session\/request_permission)"/u,
];

/** Lines at the end of the output in which a question still stands unanswered. */
const lastLines = 6;
const longest = 200;

/**
 * The question that a session's last output asks a person, who can't answer it here: null when it asks none. Only the last lines count:
 * what was said after a question was answered is no question any more. Pure.
 */
export function permissionPromptIn(output: string): string | null {
  const lines = output
    // oxlint-disable-next-line no-control-regex -- terminal sequences begin with ESC
    .replaceAll(/\u001B\[[0-9;?]*[A-Za-z]/gu, '')
    .split(/[\r\n]+/u)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-lastLines);
  const asked = lines.findLast((line) => questions.some((question) => question.test(line)));
  if (asked === undefined) return null;
  return asked.length > longest ? `${asked.slice(0, longest)}…` : asked;
}
