/**
 * What a conversation notes in its log: typed facts, and the sentence that says each of them. Programs read the facts;
 * the sentences are for people, and may be reworded without an effect on anything else. Pure.
 */
import { type Static, type TProperties, Type } from 'typebox';
import { Value } from 'typebox/value';
import { counted } from '../counted.ts';

const Text = Type.String();
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Kind = <K extends string, P extends TProperties>(kind: K, facts: P) =>
  Type.Object({ kind: Type.Literal(kind), ...facts });

/** Why a node is left or repeated. */
export const Why = Type.Union([
  /** The option names these keys. */
  Kind('keys', { keys: Text }),
  /** The model or the rules chose it; `reason` is their sentence. */
  Kind('chosen', { reason: Text }),
  Kind('only_keyless_option', {}),
  Kind('entry_complete', {}),
  /** No option is for these words; null: not known. `reason` is a sentence of the model or the rules. */
  Kind('no_option', { words: Nullable(Text), reason: Text }),
  Kind('no_keys', { keys: Text }),
  Kind('invalid_entry', { keys: Text }),
  Kind('silence', {}),
  Kind('condition', { condition: Text, reason: Text }),
  Kind('keys_sent', {}),
  Kind('webhook', { ok: Type.Boolean() }),
  Kind('tool_failed', {}),
  Kind('transfer_failed', { reason: Text }),
  Kind('pathway_unavailable', {}),
  Kind('handed_back', {}),
  Kind('realtime_failed', { reason: Text }),
]);
export type Why = Static<typeof Why>;

export const LogFact = Type.Union([
  /** `keys`: pressed before; null: none, the person spoke or was silent. */
  Kind('option_taken', { label: Text, why: Why, keys: Nullable(Text) }),
  Kind('node_repeated', { node: Text, why: Why }),
  Kind('replied', { reason: Text }),
  Kind('node_resumed', { node: Text }),
  Kind('variable_learned', { name: Text, value: Text }),
  Kind('variable_built_in', { name: Text }),
  Kind('speech_generated', { note: Text }),
  Kind('tool_unknown', { tool_id: Text }),
  Kind('tool_succeeded', {}),
  Kind('tool_failed', { error: Nullable(Text) }),
  /** `answer`: the status, else the error. */
  Kind('webhook_answered', { ok: Type.Boolean(), answer: Text }),
  Kind('pathway_unavailable', { pathway_id: Text, version: Type.Number() }),
  /** Text conversations only. */
  Kind('realtime_simulated', { connection: Text }),
  Kind('realtime_begun', { connection: Text }),
  Kind('realtime_failed', { reason: Text }),
  /** `target` as dialed, empty: none; null: not known. */
  Kind('transfer_ended', { ok: Type.Boolean(), reason: Text, target: Nullable(Text) }),

  // The conversation has ended.
  Kind('end_node_reached', {}),
  Kind('call_transferred', {}),
  Kind('dead_end', { after: Type.Union([Type.Literal('silence'), Type.Literal('webhook')]) }),
  Kind('repeats_unanswered', { why: Why, repeats: Type.Number() }),
  Kind('graph_loop', { moves: Type.Number() }),
  Kind('no_fallback', { why: Why }),

  // A conversation with a persona, outside a pathway.
  Kind('no_model', {}),
  Kind('model_failed', { error: Text }),
  Kind('tool_call_rejected', { reason: Text }),
  Kind('tool_call_limit', { rounds: Type.Number() }),
  Kind('persona_tool_ended', { tool: Text, ok: Type.Boolean(), error: Nullable(Text) }),
  Kind('transfer_started', { name: Text }),
  Kind('start_node_unknown', { pathway_id: Text, version: Type.Number(), node: Text }),
  Kind('pathway_entered', { name: Text }),
  Kind('questions_unanswered', { questions: Type.Number() }),
  Kind('agent_ended', {}),
]);
export type LogFact = Static<typeof LogFact>;

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

/** A fact from another program; null: none, or of a kind that this version does not know. */
export function readLogFact(value: unknown): LogFact | null {
  return Value.Check(LogFact, value) ? value : null;
}
