/**
 * Where the conversation left the path to an expected node: the caller's words matched one edge, and the node is behind
 * another one only.
 */
import type { GraphEdge } from '#shared/agent/graph.ts';
import { reachableFrom } from '#shared/agent/graph-warnings.ts';
import { callerLines, type FailedCase, nodeName, type TestedGraph, wantedNodes } from '../case.ts';
import type { Finding } from '../finding.ts';
import { ownWords } from '../own-words.ts';

const certainty = 0.65;

export function wrongTurns(failed: FailedCase): Finding[] {
  const { tested } = failed;
  if (!tested) return [];
  return wantedNodes(failed).flatMap(({ id }) => findingFor(failed, tested, id) ?? []);
}

interface Turn {
  readonly from: string;
  /** Where the conversation went. */
  readonly to: string;
  /** Where it should have gone. */
  readonly right: GraphEdge;
}

/** The last step before which the expected node was reachable, and after which it was not. */
function turnFrom({ graph }: TestedGraph, visited: readonly string[], wanted: string): Turn | null {
  const leads = (id: string | undefined) => {
    const node = id === undefined ? undefined : graph.nodes.get(id);
    return node !== undefined && reachableFrom(graph, [node]).has(wanted);
  };
  for (let step = visited.length - 2; step >= 0; step--) {
    const [from, to] = visited.slice(step, step + 2);
    if (from === undefined || to === undefined || from === to || leads(to) || !leads(from)) continue;
    const right = (graph.edgesFrom.get(from) ?? []).find(({ target }) => target !== to && leads(target));
    return right ? { from, to, right } : null;
  }
  return null;
}

function findingFor(failed: FailedCase, tested: TestedGraph, wanted: string): Finding | null {
  const turn = turnFrom(tested, failed.record.nodes_visited ?? [], wanted);
  const said = turn && callerLines(failed).findLast(({ nodeId }) => nodeId === turn.from);
  if (!turn || !said) return null;
  const { from, right, to } = turn;
  const name = (id: string) => `“${nodeName(failed, id)}”`;
  const words = said.words.slice(0, 200);
  // A key belongs to one edge only.
  const left = failed.facts.findLast(({ node_id, fact }) => node_id === from && fact.kind === 'option_taken');
  const pressed = left?.fact.kind === 'option_taken' && left.fact.keys !== null;
  const own = ownWords(tested.graph, null, words);
  const behind = right.target === wanted ? 'is' : `lies behind ${name(right.target)}, which is`;
  return {
    cause: 'flow',
    type: 'flow_change',
    nodeId: from,
    description: `In ${name(from)} the caller said ${JSON.stringify(words)}, and the conversation went to ${name(to)}. ${name(wanted)} ${behind} reached by the edge ${JSON.stringify(right.label)}.`,
    suggestedChange: pressed
      ? `Have the key that ${name(from)} names for it lead to ${name(right.target)}.`
      : `Say in the label of the edge from ${name(from)} to ${name(right.target)} that it is also for ${own === '' ? 'what this caller said' : JSON.stringify(own)}.`,
    confidence: certainty,
    edit:
      pressed || own === ''
        ? null
        : {
            kind: 'describe_edge',
            source: from,
            target: right.target,
            // Labels decide between two edges that both partly match.
            label: right.label === '' ? own : `${right.label}, or: ${own}`,
            description: right.description,
          },
  };
}
