/** What is wrong with a graph, by the rules of the API, and where it is shown. Pure. */
import { validateGraph } from '#shared/agent/graph.ts';
import { graphWarnings } from '#shared/agent/graph-warnings.ts';
import { transferVersionProblems } from '#shared/agent/transfer-pathway.ts';
import type { Graph, Selected } from '../graph/graph.ts';

export interface Finding {
  /** RFC 6901 pointer into the graph. */
  readonly path: string;
  readonly message: string;
  readonly isWarning: boolean;
}

/** Targets that may not be contacted, and ids of other things, only the API knows. */
export function findingsOf({ nodes, edges }: Graph): Finding[] {
  const problems = [...validateGraph(nodes, edges), ...transferVersionProblems(nodes)];
  const found = problems.length > 0 ? problems : graphWarnings(nodes, edges);
  const isWarning = problems.length === 0;
  return found.map(({ path, message }) => ({ path, message, isWarning }));
}

/** Where it is corrected. @returns null: nowhere in particular */
export function placeOf({ nodes }: Graph, { path }: Pick<Finding, 'path'>): Selected | null {
  const [, kind, index = ''] = path.split('/');
  if (kind === 'edges' && index !== '') return { kind: 'edge', index: Number(index) };
  const member = kind === 'nodes' && index !== '' ? nodes[Number(index)] : undefined;
  if (typeof member?.id === 'string') return { kind: 'node', id: member.id };
  return member?.globalConfig === undefined ? null : { kind: 'all' };
}

/** Those of a place in the graph, and of all that is in it. @param pointer such as `/nodes/3/data/text` */
export function findingsAt(findings: readonly Finding[], pointer: string): Finding[] {
  return findings.filter(({ path }) => path === pointer || path.startsWith(`${pointer}/`));
}
