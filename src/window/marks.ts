import * as vscode from 'vscode';

/** What a person marked among a run's candidates. */
interface Marks {
  readonly starred: readonly string[];
  readonly hidden: readonly string[];
}

/** A person's own marks (star, hide), kept by run in the window's workspace state. They change nothing of the run. */
export class CandidateMarks implements vscode.Disposable {
  readonly #memory: vscode.Memento;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  #of(run: string): Marks {
    return this.#memory.get<Marks>(`marks.${run}`, { starred: [], hidden: [] });
  }

  isStarred(run: string, candidate: string): boolean {
    return this.#of(run).starred.includes(candidate);
  }

  isHidden(run: string, candidate: string): boolean {
    return this.#of(run).hidden.includes(candidate);
  }

  /** Sets or takes away one mark. */
  async set(
    run: string,
    mark: keyof Marks,
    given: { readonly candidate: string; readonly on: boolean },
  ): Promise<void> {
    const before = this.#of(run);
    const others = before[mark].filter((one) => one !== given.candidate);
    await this.#memory.update(`marks.${run}`, { ...before, [mark]: given.on ? [...others, given.candidate] : others });
    this.#changed.fire();
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
