/**
 * Variables that would act on the runner itself, which runs on Node with the program's environment: they travel under another name
 * and get their own back only for the program.
 */
const heldBack = ['NODE_OPTIONS', 'NODE_V8_COVERAGE', 'HMA_NONCE'] as const;

const prefix = 'HMA_HELD_';

/** The environment to start a runner with, from what its program may see. */
export function runnerEnvironment(program: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env = { ...program };
  for (const name of heldBack) {
    if (env[name] === undefined) continue;
    env[`${prefix}${name}`] = env[name];
    delete env[name];
  }
  // the runner's stamps are compared with the controller's: in tests both read the same clock
  if (process.env['HMA_TEST_CLOCK'] !== undefined) env['HMA_TEST_CLOCK'] = process.env['HMA_TEST_CLOCK'];
  return env;
}

/** The program's environment, from the runner's: everything but what is the runner's own. A git configuration given by environment is kept as it is. */
export function programEnvironment(
  runner: NodeJS.ProcessEnv,
  added: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  const env = { ...runner };
  for (const name of heldBack) {
    const held = env[`${prefix}${name}`];
    delete env[`${prefix}${name}`];
    if (held !== undefined) env[name] = held;
  }
  delete env['HMA_CRASH'];
  delete env['HMA_TEST_CLOCK'];
  const keepsGit = env['GIT_CONFIG_COUNT'] !== undefined;
  for (const [name, value] of Object.entries(added))
    if (!(keepsGit && name.startsWith('GIT_CONFIG_'))) env[name] = value;
  return env;
}
