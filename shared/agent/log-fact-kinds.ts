/**
 * Every kind of fact in the log of a conversation, as a schema for programs that read them. It is apart from
 * `log-facts.ts` because media shards, which write facts, do not load TypeBox.
 */
import { type Static, type TProperties, Type } from 'typebox';
import { Check } from 'typebox/schema';

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

/** A fact from another program; null: none, or of a kind that this version does not know. */
export function readLogFact(value: unknown): LogFact | null {
  return Check(LogFact, value) ? value : null;
}
