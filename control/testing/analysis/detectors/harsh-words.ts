/**
 * What the agent says to callers and should not, or fails to say: harsh and forbidden phrases, an upset caller who is
 * not acknowledged.
 */
import type { GraphNode } from '#shared/agent/graph-node.ts';
import { quotedSentence } from '#shared/models/rule-engine.ts';
import { lexicon, phraseIn } from '../../judging/lexicon.ts';
import type { ChatLine } from '../../judging/ports.ts';
import { type FailedCase, type TestedGraph, unmetAssertions, unmetConfigs } from '../case.ts';
import type { GraphEdit } from '../edits.ts';
import type { Finding } from '../finding.ts';
import { harshPhrase, softenedPrompt, softenedSpeech, type Wanted } from '../soften.ts';

interface Fault {
  readonly line: ChatLine;
  /** Null: the problem is that an upset caller is ignored. */
  readonly phrase: string | null;
}

export function harshWords(failed: FailedCase): Finding[] {
  const unwanted = forbidden(failed);
  if (unwanted.length === 0 && !judgesTone(failed)) return [];
  const byNode = Map.groupBy(faults(failed, unwanted), ({ line }) => line.node_id);
  return [...byNode].map(([nodeId, found]) => findingFor(failed, nodeId, found, unwanted));
}

/** Whether a failed assertion concerns the agent's tone. */
function judgesTone(failed: FailedCase): boolean {
  const judged = ['SERVICE_TONE', 'LLM_JUDGE', 'CUSTOM_LLM'];
  return unmetAssertions(failed).some(({ assertion: { type } }) => judged.includes(type));
}

/** Phrases that assertions forbid to the agent. */
function forbidden(failed: FailedCase): string[] {
  const checks = unmetConfigs(failed, 'STRING_CHECK').flatMap(({ value, negate, target, operator }) =>
    negate === true && target !== 'user' && (operator ?? 'contains') === 'contains' ? [value] : [],
  );
  const prompts = [
    ...unmetConfigs(failed, 'LLM_JUDGE').map(({ prompt }) => prompt),
    ...unmetConfigs(failed, 'CUSTOM_LLM').map(({ system_prompt }) => system_prompt),
  ];
  const rubrics = prompts.flatMap((prompt) =>
    [...prompt.matchAll(/^[^\S\r\n\u2028\u2029]*- agent never says: (.+)$/gim)].flatMap(([, list = '']) =>
      [...list.matchAll(/"([^"]+)"/g)].map(([, phrase = '']) => phrase),
    ),
  );
  return [...new Set([...checks, ...rubrics])];
}

function faults({ record: { chat_history: lines } }: FailedCase, unwanted: readonly string[]): Fault[] {
  return lines.flatMap((line, turn): Fault[] => {
    if (line.role !== 'assistant') return [];
    const phrase = harshPhrase(line.content, unwanted);
    if (phrase !== null) return [{ line, phrase }];
    const before = lines[turn - 1];
    const upset =
      before?.role === 'user' && phraseIn(before.content, [...lexicon.anger, ...lexicon.insults]) !== null;
    return upset && phraseIn(line.content, lexicon.acknowledgement) === null ? [{ line, phrase: null }] : [];
  });
}

const common = { cause: 'prompt', type: 'tone_improvement' } as const;

function findingFor(
  failed: FailedCase,
  nodeId: string | null,
  found: readonly Fault[],
  unwanted: readonly string[],
): Finding {
  const fault = found.find(({ phrase }) => phrase !== null) ?? found[0];
  const node = nodeId === null ? undefined : failed.tested?.graph.nodes.get(nodeId);
  const where = node ? `“${node.name}”` : 'The agent';
  const said = JSON.stringify(fault?.line.content ?? '');
  const phrase = fault?.phrase ?? null;
  const description =
    phrase === null
      ? `${where} ignores an upset caller: it says ${said}.`
      : `${where} says ${JSON.stringify(phrase)} to the caller: ${said}.`;
  // Only tone can be repaired by other words. What the agent should not say for another reason it says because it came
  // there: without the sentence the pathway would do the same.
  const isTone = phrase === null || harshPhrase(phrase) !== null;
  const wanted = {
    unwanted: unwanted.filter((one) => harshPhrase(one) !== null),
    acknowledge: found.some(({ phrase: none }) => none === null),
  };
  const edit = isTone && failed.tested && node ? rewriting(failed, failed.tested, node, wanted) : null;
  if (!isTone) {
    return {
      cause: 'flow',
      type: 'flow_change',
      nodeId,
      description,
      suggestedChange: `Have the pathway come to ${where} only for callers to whom it may say this.`,
      confidence: 0.6,
      edit: null,
    };
  }
  const words = edit && 'words' in edit ? edit.words : null;
  return {
    ...common,
    nodeId,
    description,
    suggestedChange:
      words ??
      'Tell the agent to stay calm and courteous: acknowledge how the caller feels first, and never blame.',
    confidence: phrase === null ? 0.7 : 0.9,
    edit,
  };
}

/** Whose words to change: the node's own, else the prompt of the whole pathway. */
function rewriting(
  { agentByRules }: FailedCase,
  { graph }: TestedGraph,
  node: GraphNode,
  wanted: Wanted,
): GraphEdit | null {
  if (node.text !== '') {
    const words = softenedSpeech(node.text, wanted);
    return words === node.text ? null : { kind: 'set_words', node: node.id, member: 'text', words };
  }
  const { globalPrompt } = graph;
  if (node.prompt !== '') {
    const spoken = agentByRules && quotedSentence(node.prompt) === null;
    const words = (spoken ? softenedSpeech : softenedPrompt)(node.prompt, wanted);
    const atFault = wanted.acknowledge || harshPhrase(node.prompt, wanted.unwanted) !== null;
    if (atFault || globalPrompt === '') {
      return words === node.prompt ? null : { kind: 'set_words', node: node.id, member: 'prompt', words };
    }
  }
  if (globalPrompt === '') return null;
  const words = softenedPrompt(globalPrompt, wanted);
  return words === globalPrompt ? null : { kind: 'set_global_prompt', words };
}
