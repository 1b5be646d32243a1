/** Which version a Transfer Pathway node may name. Graphs of earlier releases may hold others, so loading does not ask. */
import { type GraphProblem, isObject } from './graph-problem.ts';

/** As conditions of personas name versions; an empty one names none. */
const versionForm = /^(production|staging|0|[1-9][0-9]{0,8}|)$/;

/** Nodes of a graph that is written whose version means nothing. */
export function transferVersionProblems(nodes: readonly unknown[]): GraphProblem[] {
  return nodes.flatMap((node, index) => {
    if (!isObject(node) || node.type !== 'Transfer Pathway' || !isObject(node.data)) return [];
    const { transferPathwayId, transferPathwayVersion } = node.data;
    if (typeof transferPathwayId !== 'string') return [];
    const value = transferPathwayVersion ?? '';
    const isText = typeof value === 'string' || typeof value === 'number';
    if (isText && versionForm.test(String(value))) return [];
    const path = `/nodes/${index}/data/transferPathwayVersion`;
    const message =
      'transferPathwayVersion is the number of a version, production or staging; 0 is the live graph';
    return [{ path, rule: 'value', message }];
  });
}
