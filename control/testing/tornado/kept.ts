/** The fixes of the version that a session hands back, each with what it alone changes. Pure. */
import type { KeptFixView } from '#shared/api/agent-testing/tornado.ts';
import { applyEdit, type GraphEdit, type RawGraph } from '../analysis/edits.ts';
import { graphDiff } from './diff.ts';
import type { Fix } from './fixes.ts';
import { fixView } from './views.ts';

export interface KeptFix extends KeptFixView {
  readonly edit: GraphEdit;
}

/** @param fixes of the version over `base`, in order of application; those that do not fit are left out */
export function keptFixes(base: RawGraph, fixes: readonly Fix[]): KeptFix[] {
  let before = base;
  return fixes.flatMap((fix) => {
    const after = applyEdit(before, fix.edit);
    if (!after) return [];
    const diff = graphDiff(before, after);
    before = after;
    return [{ ...fixView(fix), scenario_ids: [...fix.scenarios], diff, edit: fix.edit }];
  });
}

/** @returns the base with these fixes, or the first one that does not fit without those that are left out */
export function withFixes(
  base: RawGraph,
  fixes: readonly KeptFix[],
): { readonly graph: RawGraph } | { readonly misfit: KeptFix } {
  let graph = base;
  for (const fix of fixes) {
    const after = applyEdit(graph, fix.edit);
    if (!after) return { misfit: fix };
    graph = after;
  }
  return { graph };
}
