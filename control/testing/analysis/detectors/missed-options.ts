/**
 * Missing paths for what the caller wanted. The run shows them: a node repeats itself, ends, or falls back to its
 * default because nothing matches the caller's words. The target comes from the assertions, else from the words.
 */
import type { GraphNode } from '#shared/agent/graph-node.ts';
import { reachableFrom } from '#shared/agent/graph-warnings.ts';
import type { LogFact } from '#shared/agent/log-facts.ts';
import { roleOf } from '#shared/agent/special-edges.ts';
import { bestByWords } from '#shared/models/rule-engine.ts';
import { callerLines, type FailedCase, nodeName, type TestedGraph, wantedNodes } from '../case.ts';
import type { GraphEdit } from '../edits.ts';
import type { Finding } from '../finding.ts';
import { ownWords } from '../own-words.ts';

interface Missed {
  readonly node: GraphNode;
  readonly words: string;
  /** `stuck`: the conversation did not advance; `default`: it took the default path */
  readonly how: 'stuck' | 'default';
}

export function missedOptions(failed: FailedCase): Finding[] {
  const { tested } = failed;
  if (!tested) return [];
  return missed(failed, tested).flatMap((one) => findingsFor(failed, tested, one));
}

const hangsUp = /\b(?:good ?bye|bye|done with you)\b/i;

function missed(failed: FailedCase, { graph }: TestedGraph): Missed[] {
  const found = new Map<string, Missed>();
  const last = failed.record.chat_history.findLast(({ role }) => role === 'user')?.content ?? '';
  // No node needs a path for words with which a caller hangs up.
  const farewell = failed.record.ending.by === 'caller' && hangsUp.test(last) ? last : null;
  for (const { node_id, fact } of failed.facts) {
    const node = node_id === null ? undefined : graph.nodes.get(node_id);
    const how = howMissed(fact);
    if (!node || how === null) continue;
    const words = wordsAt(failed, node.id, fact);
    const key = `${node.id} ${words}`;
    if (words !== null && words !== farewell && !found.has(key)) found.set(key, { node, words, how });
  }
  return [...found.values()];
}

/** Null: the fact is not that nothing matched. */
function howMissed(fact: LogFact): Missed['how'] | null {
  switch (fact.kind) {
    case 'node_repeated':
    case 'repeats_unanswered':
      return 'stuck';
    case 'dead_end':
      return fact.after === 'silence' ? 'stuck' : null;
    case 'option_taken': {
      const { label, why } = fact;
      const unmatched = why.kind === 'no_option' || why.kind === 'no_keys';
      return unmatched && roleOf({ label, global: false }) !== 'regular' ? 'default' : null;
    }
    default:
      return null;
  }
}

/** What the caller said in a node: as noted in the log, else the last line there. */
function wordsAt(failed: FailedCase, nodeId: string, fact: LogFact): string | null {
  const noted = 'why' in fact && fact.why.kind === 'no_option' ? fact.why.words : null;
  return noted ?? callerLines(failed).findLast((line) => line.nodeId === nodeId)?.words ?? null;
}

function findingsFor(failed: FailedCase, tested: TestedGraph, { node, words, how }: Missed): Finding[] {
  const wanted = wantedTargets(failed, tested, node, words);
  const byWords = wanted.length > 0 ? [] : targetsByWords(tested, node, words);
  const sure = how === 'stuck' ? 0.9 : 0.85;
  return [
    ...wanted.map((target) => finding(failed, tested, { node, words, how }, target, sure)),
    ...byWords.map((target) => finding(failed, tested, { node, words, how }, target, 0.5)),
  ];
}

/** Where the path to a wanted node should begin; the best match for the caller's words first. */
function wantedTargets(failed: FailedCase, tested: TestedGraph, from: GraphNode, words: string): GraphNode[] {
  const targets = wantedNodes(failed).flatMap(({ id, after }) => {
    const wanted = tested.graph.nodes.get(id);
    if (!wanted || wanted.id === from.id) return [];
    if (after === from.id) return [wanted];
    return [entryTo(failed, tested, from, wanted, words)];
  });
  return [...new Set(targets)].filter(({ id }) => id !== from.id);
}

/** The unvisited node leading to a wanted one that matches the caller's words best. */
function entryTo(
  { record }: FailedCase,
  { graph }: TestedGraph,
  from: GraphNode,
  wanted: GraphNode,
  words: string,
): GraphNode {
  const visited = new Set(record.nodes_visited ?? []);
  const leading = [...graph.nodes.values()].filter(
    (node) =>
      !visited.has(node.id) &&
      node.id !== from.id &&
      node.globalLabel === null &&
      reachableFrom(graph, [node]).has(wanted.id),
  );
  const best = bestByWords(leading.map(described), words);
  const named = best && leading[best.index];
  if (named) return named;
  const entered = new Set([...graph.edgesFrom.values()].flat().map(({ target }) => target));
  return leading.find(({ id }) => !entered.has(id)) ?? wanted;
}

/** Nodes whose name or speech matches the words: at least one word of a name, or two of the speech. */
function targetsByWords({ graph }: TestedGraph, from: GraphNode, words: string): GraphNode[] {
  const others = [...graph.nodes.values()].filter(({ id }) => id !== from.id && id !== graph.start.id);
  const best = bestByWords(others.map(described), words);
  const target = best && best.score >= 2 ? others[best.index] : undefined;
  return target ? [target] : [];
}

/** A node in a form comparable with words. */
export function described({ name, text, prompt }: GraphNode) {
  return { label: name, description: `${text} ${prompt}` };
}

function finding(
  failed: FailedCase,
  { graph }: TestedGraph,
  { node, words, how }: Missed,
  target: GraphNode,
  confidence: number,
): Finding {
  const there = graph.edgesFrom.get(node.id)?.find((edge) => edge.target === target.id);
  const own = heard(ownWords(graph, target.id, words));
  const edit: GraphEdit = there
    ? {
        kind: 'describe_edge',
        source: node.id,
        target: target.id,
        description: joined(there.description, own),
      }
    : {
        kind: 'add_edge',
        source: node.id,
        target: target.id,
        label: target.name,
        description: own,
      };
  const what = how === 'stuck' ? 'has no way for it' : 'follows its default edge';
  return {
    cause: 'flow',
    type: 'flow_change',
    nodeId: node.id,
    description: `In “${node.name}” the caller said ${JSON.stringify(words)}, and the node ${what}.`,
    suggestedChange: there
      ? `Say in the description of the edge to “${nodeName(failed, target.id)}” that it is also for what this caller said${own === '' ? '' : `. ${own}`}`
      : `Add an edge from “${node.name}” to “${nodeName(failed, target.id)}”${own === '' ? '' : `. ${own}`}`,
    confidence,
    edit,
  };
}

/** A description that matches an edge for every caller with these words. @param own from `ownWords` */
export function heard(own: string): string {
  return own === '' ? '' : `The caller mentions: ${own}`;
}

function joined(before: string, more: string): string {
  if (more === '' || before.includes(more)) return before;
  return before === '' ? more : `${before} ${more}`;
}
