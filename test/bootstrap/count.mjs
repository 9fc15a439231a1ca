// @ts-check
/**
 * What a layer of tests came to. `failures` and `skipped` hold names; a test file that could not be loaded is one failure.
 * @typedef {{ passed: number, failures: string[], skipped: string[] }} Count
 * @typedef {{ fullName: string, status: string }} Assertion
 * @typedef {{ testResults: { name: string, status: string, assertionResults: Assertion[] }[] }} Report
 */

/**
 * Counts a report of vitest's JSON reporter.
 * @param {Report} report
 * @returns {Count}
 */
export const countReport = (report) => {
  /** @type {Count} */
  const count = { passed: 0, failures: [], skipped: [] };
  for (const file of report.testResults) {
    let failed = false;
    for (const { fullName, status } of file.assertionResults) {
      if (status === 'passed') count.passed += 1;
      else if (status === 'failed') count.failures.push(fullName);
      else count.skipped.push(fullName);
      failed ||= status === 'failed';
    }
    if (file.status === 'failed' && !failed) count.failures.push(file.name);
  }
  return count;
};

/**
 * The sum of all layers, its closing line, and whether the whole is good: nothing failed, and something passed if `tests` ran at all.
 * In CI a skipped test counts as failed unless `allowedSkips` gives its reason.
 * @param {readonly Count[]} counts
 * @param {{ ci: boolean, tests: boolean, allowedSkips: Readonly<Record<string, string>> }} rules
 * @returns {{ good: boolean, line: string, forbidden: string[] }} `forbidden`: the skipped tests that count as failed
 */
export const sum = (counts, rules) => {
  const passed = counts.reduce((total, each) => total + each.passed, 0);
  const skipped = counts.flatMap((each) => each.skipped);
  const forbidden = rules.ci ? skipped.filter((name) => !Object.hasOwn(rules.allowedSkips, name)) : [];
  const failed = counts.reduce((total, each) => total + each.failures.length, 0) + forbidden.length;
  const left = skipped.length - forbidden.length;
  const line = `${passed} passed, ${failed} failed${left > 0 ? `, ${left} skipped` : ''}`;
  return { good: failed === 0 && (passed > 0 || !rules.tests), line, forbidden };
};
