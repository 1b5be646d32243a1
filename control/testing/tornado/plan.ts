/** Turns findings into fixes: those that are certain enough, fit the graph and were not tried before. Pure. */
import { applyEdit, editKey, editPlace, type GraphEdit, type RawGraph } from '../analysis/edits.ts';
import type { Finding } from '../analysis/finding.ts';
import type { Fix } from './fixes.ts';

export interface FailedScenario {
  readonly scenarioId: string;
  /** By confidence. */
  readonly findings: readonly Finding[];
}

export interface Planned {
  /** To be applied in this order. */
  readonly fixes: readonly Fix[];
  /** Conflicted with the others, or with the rules of graphs. */
  readonly skipped: readonly Fix[];
  /** With `fixes` applied. */
  readonly graph: RawGraph;
}

/** Findings with at least this confidence become fixes together; without one the best becomes a single fix. */
const certainEnough = 0.7;
/** Most fixes for one scenario in one iteration: few, so that their effects can be distinguished. */
const mostPerScenario = 3;

/**
 * @param graph that the fixes are applied to
 * @param tried keys of edits that did harm or had no effect
 * @param first number of the first new fix
 * @param accepts whether a graph is valid
 */
export function planFixes(
  graph: RawGraph,
  failed: readonly FailedScenario[],
  tried: ReadonlySet<string>,
  first: number,
  accepts: (graph: RawGraph) => boolean,
): Planned {
  const fixes: Fix[] = [];
  const skipped: Fix[] = [];
  const taken = new Set<string>();
  let present = graph;
  const id = () => `fix-${String(first + fixes.length + skipped.length).padStart(3, '0')}`;
  for (const { scenarioId, edit: wanted, finding } of candidates(failed, tried)) {
    const edit = fitted(present, wanted);
    // Fitted, it may be one that was tried.
    if (tried.has(editKey(edit))) continue;
    const shared = fixes.find((fix) => editKey(fix.edit) === editKey(edit));
    if (shared) {
      fixes[fixes.indexOf(shared)] = withScenario(shared, scenarioId);
      continue;
    }
    const { description: why, suggestedChange, confidence } = finding;
    const description = `${why} ${suggestedChange}`.slice(0, 2000);
    const fix: Fix = { id: id(), edit, description, confidence, scenarios: [scenarioId] };
    const place = editPlace(edit);
    const changed = taken.has(place) && edit.kind !== 'describe_edge' ? null : applyEdit(present, edit);
    if (!changed || !accepts(changed)) {
      skipped.push(fix);
      continue;
    }
    present = changed;
    taken.add(place);
    fixes.push(fix);
  }
  return { fixes, skipped, graph: present };
}

function* candidates(failed: readonly FailedScenario[], tried: ReadonlySet<string>) {
  const all = failed.flatMap(({ scenarioId, findings }) => {
    const open = findings.flatMap((finding) => {
      const { edit } = finding;
      return edit && !tried.has(editKey(edit)) ? [{ scenarioId, edit, finding }] : [];
    });
    const certain = open.filter(({ finding }) => finding.confidence >= certainEnough);
    return certain.length > 0 ? certain.slice(0, mostPerScenario) : open.slice(0, 1);
  });
  yield* all.toSorted((a, b) => b.finding.confidence - a.finding.confidence);
}

/** An edge already added by another fix gets a further description, so that it works for both callers. */
function fitted(graph: RawGraph, edit: GraphEdit): GraphEdit {
  if (edit.kind !== 'add_edge') return edit;
  const there = graph.edges.find(({ source, target }) => source === edit.source && target === edit.target);
  const data: unknown = there?.data;
  if (!there || typeof data !== 'object' || data === null) return edit;
  const before: unknown = Reflect.get(data, 'description');
  const text = typeof before === 'string' ? before : '';
  if (text.includes(edit.description)) return edit;
  const description = `${text} ${edit.description}`.trim();
  return { kind: 'describe_edge', source: edit.source, target: edit.target, description };
}

function withScenario(fix: Fix, scenarioId: string): Fix {
  return fix.scenarios.includes(scenarioId) ? fix : { ...fix, scenarios: [...fix.scenarios, scenarioId] };
}
