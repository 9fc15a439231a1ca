import { runSession } from './session/main.ts';
import { processOutput } from './session/output.ts';

process.exitCode = await runSession({ words: process.argv.slice(2), env: process.env, output: processOutput() });
