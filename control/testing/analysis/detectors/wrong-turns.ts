/**
 * Where the conversation left the path to an expected node: the caller's words matched one edge, and the node is behind
 * another one only.
 */
import type { Graph, GraphEdge } from '#shared/agent/graph.ts';
import { reachableFrom } from '#shared/agent/graph-warnings.ts';
import { stems } from '#shared/models/words.ts';
import { callerLines, type FailedCase, nodeName, type TestedGraph, wantedNodes } from '../case.ts';
import type { Finding } from '../finding.ts';
import { ownWords, vocabulary } from '../own-words.ts';

const certainty = 0.65;
/** Two labels that each fit the other edge are no accident. */
const certaintyOfExchange = 0.8;

export function wrongTurns(failed: FailedCase): Finding[] {
  const { tested } = failed;
  if (!tested) return [];
  return wantedNodes(failed).flatMap(({ id }) => findingFor(failed, tested, id) ?? []);
}

interface Turn {
  readonly from: string;
  /** Where the conversation went. */
  readonly to: string;
  /** The edge that was taken; null: several lead there. */
  readonly left: GraphEdge | null;
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
    const edges = graph.edgesFrom.get(from) ?? [];
    const right = edges.find(({ target }) => target !== to && leads(target));
    const [left = null, ...others] = edges.filter(({ target }) => target === to);
    return right ? { from, to, left: others.length === 0 ? left : null, right } : null;
  }
  return null;
}

/** Whether what the caller said is named by the edge that was taken, and each of both fits what is behind the other one. */
function isExchanged(graph: Graph, left: GraphEdge, right: GraphEdge, said: string): boolean {
  const [behindLeft, behindRight] = [left, right].map(({ target }) => vocabulary(graph, [target], false));
  const shared = ({ label }: GraphEdge, words: ReadonlySet<string> = new Set()) =>
    stems(label).filter((one) => words.has(one)).length;
  const wanted = new Set(stems(said));
  return (
    shared(left, wanted) > shared(right, wanted) &&
    shared(left, behindRight) > shared(left, behindLeft) &&
    shared(right, behindLeft) > shared(right, behindRight)
  );
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
  if (!pressed && turn.left && isExchanged(tested.graph, turn.left, right, words)) {
    const [one, other] = [turn.left, right].map(({ label }) => JSON.stringify(label));
    return {
      cause: 'flow',
      type: 'flow_change',
      nodeId: from,
      description: `In ${name(from)} the caller said ${JSON.stringify(words)} and came to ${name(to)} by the edge ${one}. What that edge names is at ${name(right.target)}, where the edge ${other} leads, and the other way round.`,
      suggestedChange: `Exchange where the edges ${one} and ${other} of ${name(from)} lead.`,
      confidence: certaintyOfExchange,
      edit: {
        kind: 'exchange_edges',
        source: from,
        edges: [
          { target: to, label: turn.left.label },
          { target: right.target, label: right.label },
        ],
      },
    };
  }
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
