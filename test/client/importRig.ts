import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';

import { onTestFinished } from 'vitest';

import { adapters } from '../../src/agents/adapters.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Desk } from '../../src/cli/desk.ts';
import { runCli } from '../../src/cli/program.ts';
import { hiddenPaths } from '../../src/controller/confinement.ts';
import { prepareCheckout } from '../../src/evaluators/checkout.ts';
import { evaluationSpec, type EvaluationKind } from '../../src/evaluators/evaluationSpec.ts';
import { protectFiles } from '../../src/evaluators/protectedFiles.ts';
import { readVerdict } from '../../src/evaluators/readVerdict.ts';
import type { Tier } from '../../src/machines/port.ts';
import { loadContract } from '../../src/task/load.ts';
import type { Contract } from '../../src/task/model.ts';
import { write } from '../evaluators/folders.ts';
import { MachineRoom, observed } from '../machines/machineRoom.ts';

/** A room with an empty workspace, in which `hma init` is told to take a task from elsewhere, and what it lays out is really run. */
export class ImportRoom {
  readonly room = new MachineRoom();
  #evaluations = 0;

  constructor() {
    onTestFinished(() => this.room.close());
  }

  /** A folder of the room outside the workspace. */
  at(...path: readonly string[]): string {
    return join(this.room.base, ...path);
  }

  get workspace(): string {
    return this.room.workspace;
  }

  /** `hma init` in the workspace. */
  async init(words: readonly string[], path: string = String(process.env['PATH'])) {
    const streams = { stdout: new PassThrough(), stderr: new PassThrough(), stdin: new PassThrough() };
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    streams.stdout.on('data', (bytes: Buffer) => out.push(bytes));
    streams.stderr.on('data', (bytes: Buffer) => err.push(bytes));
    const env = { HMA_HOME: this.at('state'), PATH: path };
    const desk = { ...streams, cwd: this.workspace, env, clock: systemClock } as unknown as Desk;
    const exit = await runCli(desk, ['init', '--agents', 'claude-code,codex', ...words]);
    return { exit, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() };
  }

  /** The contract that was written, which must have no errors, with the codes of its warnings. */
  async contract(): Promise<{ readonly contract: Contract; readonly warnings: readonly string[] }> {
    const given = { wall: 0, adapters: Object.keys(adapters) };
    const loaded = await loadContract({ workspace: this.workspace, given });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.refusal.messages, null, 2));
    return { contract: loaded.value.contract, warnings: loaded.value.warnings.map(({ code }) => code) };
  }

  /** Relative paths of all files in the workspace; what links lead to is not looked at. */
  files(folder = this.workspace, below = ''): string[] {
    return readdirSync(join(folder, below), { withFileTypes: true })
      .flatMap((entry) => {
        const path = below === '' ? entry.name : `${below}/${entry.name}`;
        return entry.isDirectory() ? this.files(folder, path) : [path];
      })
      .toSorted();
  }

  /** Evaluates a candidate as the controller does, under a real runner in a real tier. */
  async evaluate(
    candidate: Readonly<Record<string, string>>,
    kind: EvaluationKind = 'evaluation',
    tier: Tier = 'bubblewrap',
  ) {
    const { contract } = await this.contract();
    const id = `evaluation-${++this.#evaluations}`;
    const stored = await protectFiles({
      workspace: this.workspace,
      patterns: contract.protected,
      store: join(this.room.state, `protected-${id}`),
    });
    if (!stored.ok) throw new Error(stored.refusal.detail);
    const checkout = await prepareCheckout({
      folder: join(this.room.state, id),
      restoreCandidate: async (into) => void write(into, candidate),
      protectedFiles: stored.value,
      workspace: this.workspace,
    });
    if (!checkout.ok) throw new Error(checkout.refusal.detail);
    const program = await evaluationSpec({
      kind,
      contract,
      nonce: `${this.room.base.slice(-6)}-${id}`,
      checkout: checkout.value,
      workspace: this.workspace,
      tier,
      hidden: hiddenPaths({ home: this.room.state, workspace: this.workspace, tier, env: {} }, contract),
      outerEnvironment: { PATH: process.env['PATH'] },
    });
    if (!program.ok) throw new Error(program.refusal.detail);
    const { spec, environment } = program.value;
    const started = await this.room.start(tier, spec.argv, { spec, env: { ...environment } });
    const { report } = await observed(started, 'ended');
    const outputLog = join(started.dir, 'output.log');
    const verdict = await readVerdict({
      exit: report,
      resultFile: checkout.value.resultFile,
      outputLog,
      source: { from: 'file' },
      timeoutMs: spec.timeoutMs ?? 0,
    });
    return { verdict, output: statSync(outputLog).size > 0 ? readFileSync(outputLog, 'utf8') : '' };
  }
}
