/**
 * What the agent should have said and did not, where the run shows which node says it otherwise (a wrong price), or
 * where it should have read back what the caller told it.
 */
import type { GraphNode } from '#shared/agent/graph-node.ts';
import { asText } from '#shared/agent/template.ts';
import { stems } from '#shared/models/words.ts';
import { hear } from '../../callers/hearing.ts';
import { plainText } from '../../judging/lexicon.ts';
import { callerLines, type FailedCase, type TestedGraph, unmetConfigs, wantedNodes } from '../case.ts';
import type { Finding } from '../finding.ts';

const certain = { otherwise: 0.8, readBack: 0.75 };

/** Of the words that are expected, this share must be in the node that says it otherwise. */
const alike = 0.6;

export function unsaidWords(failed: FailedCase): Finding[] {
  const { tested } = failed;
  // Words of a node that the conversation did not come to are not missing in those that it came to.
  if (!tested || wantedNodes(failed).length > 0) return [];
  return unsaid(failed).flatMap(
    (value) => otherwise(failed, tested, value) ?? notReadBack(failed, tested, value) ?? [],
  );
}

/** Texts that assertions expect of the agent, and that it never said. */
function unsaid(failed: FailedCase): string[] {
  return unmetConfigs(failed, 'STRING_CHECK').flatMap(({ value, negate, target, operator }) =>
    negate !== true && target === 'agent' && operator !== 'equals' ? [value] : [],
  );
}

function visitedNodes({ record }: FailedCase, { graph }: TestedGraph): GraphNode[] {
  return [...new Set(record.nodes_visited ?? [])].flatMap((id) => graph.nodes.get(id) ?? []);
}

/** "It costs 54 dollars." where "It costs 45 dollars." is expected. */
function otherwise(failed: FailedCase, tested: TestedGraph, value: string): Finding | null {
  const words = stems(value).filter((word) => !/\d/.test(word));
  if (words.length < 2) return null;
  const scored = visitedNodes(failed, tested).map((node) => {
    const own = new Set(stems(`${node.text} ${node.prompt}`));
    return { node, share: words.filter((word) => own.has(word)).length / words.length };
  });
  const [best] = scored.toSorted((a, b) => b.share - a.share);
  if (!best || best.share < alike) return null;
  const { id, name, text } = best.node;
  return {
    cause: 'prompt',
    type: 'prompt_change',
    nodeId: id,
    description: `“${name}” says ${JSON.stringify(text.slice(0, 200))}, where ${JSON.stringify(value)} is expected.`,
    suggestedChange: `Correct the words of “${name}”, or the assertion.`,
    confidence: certain.otherwise,
    edit: null,
  };
}

/** The caller said it, it was stored, and the agent asked whether all was right without saying it. */
function notReadBack(failed: FailedCase, tested: TestedGraph, value: string): Finding | null {
  const { chat_history: lines, variables } = failed.record;
  const name = Object.keys(variables).find((one) => asText(variables[one]) === value);
  const told = callerLines(failed).find(({ words }) => plainText(words).includes(plainText(value)));
  if (name === undefined || !told) return null;
  const after = lines.slice(told.turn + 1).filter(({ role }) => role === 'assistant');
  const asking = after.find(({ content }) => hear([content]).readsBack) ?? after[0];
  const node = asking?.node_id == null ? undefined : tested.graph.nodes.get(asking.node_id);
  if (!asking || !node) return null;
  return {
    cause: 'prompt',
    type: 'prompt_change',
    nodeId: node.id,
    description: `The caller said ${JSON.stringify(told.words.slice(0, 200))}, and the agent never repeated ${JSON.stringify(value)}. “${node.name}” says ${JSON.stringify(asking.content.slice(0, 200))}.`,
    suggestedChange: `Read back {{${name}}} in “${node.name}”.`,
    confidence: certain.readBack,
    edit: null,
  };
}
