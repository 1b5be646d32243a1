/**
 * What a conversation notes in its log: typed facts, and the sentence that says each of them. Programs read the facts;
 * the sentences are for people, and may be reworded without an effect on anything else. Pure.
 */
import { counted } from '../counted.ts';
import type { LogFact, Why } from './log-fact-kinds.ts';

export type { LogFact, Why } from './log-fact-kinds.ts';

type Of<U extends { readonly kind: string }, K extends U['kind']> = Extract<U, { readonly kind: K }>;
type Sentences<U extends { readonly kind: string }> = {
  readonly [K in U['kind']]: (fact: Of<U, K>) => string;
};

/** Why the node is left or repeated, as part of a sentence. */
const reasons: Sentences<Why> = {
  keys: ({ keys }) => `the keys ${keys} name it`,
  chosen: ({ reason }) => reason,
  only_keyless_option: () => 'it is the only edge that names no key',
  entry_complete: () => 'the entry is complete',
  no_option: ({ reason }) => reason,
  no_keys: ({ keys }) => `no edge matches the keys ${keys}`,
  invalid_entry: ({ keys }) => `"${keys}" is not a valid entry here`,
  silence: () => 'nothing was heard or pressed',
  condition: ({ condition, reason }) => `the condition "${condition}" does not hold: ${reason}`,
  keys_sent: () => 'after its keys were sent',
  webhook: ({ ok }) => `the webhook ${ok ? 'succeeded' : 'failed'}`,
  tool_failed: () => 'the tool failed',
  transfer_failed: ({ reason }) => reason,
  pathway_unavailable: () => 'the pathway to continue in is not available',
  handed_back: () => 'the realtime model handed back',
  realtime_failed: ({ reason }) => reason,
};

const sentences: Sentences<LogFact> = {
  option_taken: ({ label, why }) => {
    if (why.kind !== 'keys') return `"${label}" is taken: ${reasonOf(why)}`;
    const entry = why.keys.length === 1 ? `key ${why.keys} follows` : `keys ${why.keys} follow`;
    return `${entry} the edge "${label}"`;
  },
  node_repeated: ({ node, why }) => `${reasonOf(why)}; "${node}" is repeated`,
  replied: ({ reason }) => reason,
  node_resumed: ({ node }) => `back to "${node}"`,
  variable_learned: ({ name, value }) => `${name} = ${value}`,
  variable_built_in: ({ name }) => `the variable ${name} is built in and was not changed`,
  speech_generated: ({ note }) => note,
  tool_unknown: ({ tool_id }) => `the tool ${tool_id} is not available`,
  tool_succeeded: () => 'the tool succeeded',
  tool_failed: ({ error }) => `the tool failed: ${error ?? 'no reason given'}`,
  webhook_answered: ({ answer }) => `the webhook answered ${answer}`,
  pathway_unavailable: ({ pathway_id, version }) =>
    `pathway ${pathway_id} version ${version} is not available`,
  realtime_simulated: ({ connection }) =>
    `simulated in text, without tools: on a call, the realtime model of "${connection}" hears and speaks here`,
  realtime_begun: ({ connection }) => `the realtime model of "${connection}" takes over`,
  realtime_failed: ({ reason }) => `the realtime model failed: ${reason}`,
  transfer_ended: ({ reason }) => `transfer: ${reason}`,
  end_node_reached: () => 'the pathway reached its End Call node',
  call_transferred: () => 'the call was transferred',
  dead_end: ({ after }) => `there is no edge to follow${after === 'webhook' ? ' after the webhook' : ''}`,
  repeats_unanswered: ({ why, repeats }) => `${reasonOf(why)}, no answer after ${counted(repeats, 'repeat')}`,
  graph_loop: ({ moves }) => `${moves} nodes were passed without waiting for input: the graph has a loop`,
  no_fallback: ({ why }) => reasonOf(why),
  no_model: () =>
    'No language model is configured: the embedded rules answer, and follow no instructions in words.',
  model_failed: ({ error }) => error,
  tool_call_rejected: ({ reason }) => `tool call rejected: ${reason}`,
  tool_call_limit: ({ rounds }) => `${rounds} tool calls in a row: limit reached`,
  persona_tool_ended: ({ tool, ok, error }) =>
    `the tool "${tool}" ${ok ? 'succeeded' : `failed: ${error ?? 'no reason was given'}`}`,
  transfer_started: ({ name }) => `transfer to "${name}"`,
  start_node_unknown: ({ pathway_id, version, node }) =>
    `pathway ${pathway_id} version ${version} has no node "${node}"`,
  pathway_entered: ({ name }) => `continues in the pathway of "${name}"`,
  questions_unanswered: ({ questions }) =>
    `nothing was heard or pressed, no answer after ${counted(questions, 'question')}`,
  agent_ended: () => 'the agent ended the conversation',
};

function reasonOf(why: Why): string {
  return (reasons[why.kind] as (why: Why) => string)(why);
}

/** The sentence of a fact. */
export function sentenceOf(fact: LogFact): string {
  return (sentences[fact.kind] as (fact: LogFact) => string)(fact);
}
