export interface LayOutOptions {
  readonly seed?: number;
  readonly agents?: string;
  readonly node?: string;
  readonly first?: 'A' | 'B';
  readonly cap?: number | 'none';
  readonly experiments?: number | 'none';
  readonly total?: string;
  readonly review?: string;
}
export function layOut(
  targetWorkspace: string,
  hiddenTarget: string,
  options?: LayOutOptions,
): { workspace: string; hidden: string; agents: string; contract: string };
