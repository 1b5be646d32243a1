/** Fixes of a session: their targets, which did harm, which had no effect. Pure. */
import { editedNode, editKey, type GraphEdit } from '../analysis/edits.ts';
import { failedIds, type IterationOutcome, passedIds } from './outcome.ts';

export interface Fix {
  /** `fix-001`, numbered through the session */
  readonly id: string;
  readonly edit: GraphEdit;
  readonly description: string;
  /** 0..1, from its finding */
  readonly confidence: number;
  /** The scenarios that it targets. */
  readonly scenarios: readonly string[];
}

/**
 * The fixes that made a passing scenario fail: those on nodes visited by the broken runs, or all of them when that
 * isolates none (contract 6.8).
 * @param before the best iteration so far
 * @param made fixes of the last iteration beyond it
 */
export function harmful(before: IterationOutcome, last: IterationOutcome, made: readonly Fix[]): Fix[] {
  const passed = new Set(passedIds(before));
  const broken = failedIds(last).filter((id) => passed.has(id));
  const blamed = broken.flatMap((id) => {
    const visited = new Set(last.get(id)?.visited ?? []);
    const near = made.filter(({ edit }) => visited.has(editedNode(edit) ?? ''));
    return near.length > 0 ? near : made;
  });
  return made.filter((fix) => blamed.includes(fix));
}

/** Scenarios that passed before and now fail. */
export function brokenScenarios(before: IterationOutcome, last: IterationOutcome): string[] {
  const passed = new Set(passedIds(before));
  return failedIds(last).filter((id) => passed.has(id));
}

/** Fixes after which each targeted scenario took the same path to the same failure. */
export function useless(before: IterationOutcome, last: IterationOutcome, made: readonly Fix[]): Fix[] {
  return made.filter(({ scenarios }) => scenarios.every((id) => unchanged(before, last, id)));
}

function unchanged(before: IterationOutcome, last: IterationOutcome, id: string): boolean {
  const [then, now] = [before.get(id), last.get(id)];
  if (!then || !now || now.status === 'PASSED' || then.failure !== now.failure) return false;
  if ((now.score ?? 0) > (then.score ?? 0)) return false;
  return JSON.stringify(then.visited) === JSON.stringify(now.visited);
}

/** Whether two versions have the same edits. */
export function sameFixes(a: readonly Fix[], b: readonly Fix[]): boolean {
  const keys = (fixes: readonly Fix[]) => JSON.stringify(fixes.map(({ edit }) => editKey(edit)).toSorted());
  return keys(a) === keys(b);
}
