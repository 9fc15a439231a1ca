/** What `hma help` prints inside a session: documented and stable, exit codes included. */
export const sessionHelp = `hma: submit experiments and look at the archive, from inside a session

  hma submit [--note TEXT] [--score NUMBER] [--wait SECONDS] [--json]
        Sends the candidate files as they are now. Prints the experiment's id at once, waits up to 8 s for the verdict.
        --note   what you tried, for whoever works here next (up to 4000 characters)
        --score  what your own validation gave
  hma result ID [--wait SECONDS] [--json]
        The receipt of one of your experiments.
  hma validate [--json]
        Checks the form of the candidate files, where the task has a check. Counts for nothing.
  hma status [--json]
        Time left, last safe time to submit, what is being judged.
  hma archive [list] [--json]
        All candidates so far.
  hma archive get ID [PATH] [--out FILE|FOLDER] [--json]
        Files of a candidate: a list without PATH, else the file. ID may be \`initial\` (the files at the start) or
        \`protected\` (the originals of protected files). With --out they are written there; without PATH, all of them.
  hma nominate ID --reason TEXT [--json]
        The final review's choice. The last valid one stands.
  hma mcp
        The same as tools of an MCP server on stdin and stdout.

Only accepted experiments count. Asking again with the same files gives the same id while it is judged or accepted.

Exit codes: 0 accepted, or done · 1 failed · 2 rejected (invalid) · 3 received, not judged yet · 4 refused
            5 controller not reachable · 64 wrong usage

  hma submit --note "deeper trees, 400 rounds" --score 0.871
  hma submit --json --wait 60
  hma archive get e3 solution/params.json --out /tmp/params.json
`;
