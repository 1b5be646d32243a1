/** Agents of calls, as control configures them and commands name them. */
import { type Static, Type } from 'typebox';
import { RecordingChoice } from './recordings.ts';
import { Nullable } from './schema.ts';

export const CallVariables = Type.Record(Type.String(), Type.Unknown());
export type CallVariables = Static<typeof CallVariables>;

/**
 * A tool that an agent may use (contract 8.1), as described to a language model. Control runs it: its target, template
 * and credentials stay there.
 */
export const AgentTool = Type.Object({
  /** `TL-<uuid>` */
  tool_id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  /** JSON Schema with root type object; null: the tool takes nothing */
  input_schema: Nullable(Type.Record(Type.String(), Type.Unknown())),
  /** said while the tool runs */
  speech: Nullable(Type.String()),
  /** time limit of the agent for a run, ms: the tool's own time-out with all its retries */
  timeout_ms: Type.Integer(),
});
export type AgentTool = Static<typeof AgentTool>;

/** When a persona continues in a pathway (contract 12); the pathway is in `pathways` of the configuration. */
export const PathwayCondition = Type.Object({
  name: Type.String(),
  /** the condition in plain words */
  prompt: Type.String(),
  pathway_id: Type.String(),
  /** 0 is the live graph */
  pathway_version: Type.Integer(),
  start_node_id: Nullable(Type.String()),
});
export type PathwayCondition = Static<typeof PathwayCondition>;

/** A server whose models hear and speak. */
export const RealtimeConnection = Type.Object({
  id: Type.String(),
  protocol: Type.Union([Type.Literal('openai'), Type.Literal('gemini'), Type.Literal('elevenlabs')]),
  /** a WebSocket URL */
  url: Type.String(),
  model: Type.String(),
  /** null: none is sent */
  api_key: Nullable(Type.String()),
});
export type RealtimeConnection = Static<typeof RealtimeConnection>;

/** Settings of agents of every kind on a call (contract 9.1 and 10). */
const Manner = {
  first_sentence: Nullable(Type.String()),
  wait_for_greeting: Type.Boolean(),
  block_interruptions: Type.Boolean(),
  ignore_button_press: Type.Boolean(),
  voice: Nullable(Type.String()),
  language: Type.String(),
  /** ms of caller speech that count as an interruption */
  interruption_threshold: Type.Integer(),
  timezone: Type.String(),
  /** minutes */
  max_duration: Type.Integer(),
  request_data: CallVariables,
  /** stored with the call, not shown to the agent */
  metadata: Type.Optional(CallVariables),
  /** called when the agent cannot start (contract section 10) */
  fallback_number: Nullable(Type.String()),
  /** transfer targets by name; `default` is the one without a name */
  transfer_list: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** `base` or `turbo` (contract 9.1) */
  model: Type.Optional(Type.String()),
  /** 0..1 */
  temperature: Type.Optional(Type.Number()),
  /** for personas and tasks */
  tools: Type.Optional(Type.Array(AgentTool)),
  /** absent: as the organization says */
  recording: Type.Optional(RecordingChoice),
  /** names and words that the caller is likely to say; absent: none beside the organization's */
  key_terms: Type.Optional(Type.Array(Type.String())),
};

/** The agent that answers a call. `echo` and `tone` are for tests and line checks. */
export const AgentSettings = Type.Union([
  Type.Object({
    kind: Type.Literal('pathway'),
    pathway_id: Type.String(),
    /** 0 is the live graph */
    pathway_version: Type.Integer(),
    start_node_id: Nullable(Type.String()),
    ...Manner,
  }),
  Type.Object({ kind: Type.Literal('stream'), stream_url: Type.String(), ...Manner }),
  /** A model that hears the caller and speaks itself, behind a connection of the organization. */
  Type.Object({
    kind: Type.Literal('realtime'),
    /** in `realtime` of the organization */
    connection_id: Type.String(),
    /** instructions in plain words */
    prompt: Type.String(),
    ...Manner,
  }),
  /** Instructions in plain words, for a language model. */
  Type.Object({ kind: Type.Literal('task'), task: Type.String(), ...Manner }),
  /** A version of a persona (contract 12), with its call_config and default_tools merged into the common settings. */
  Type.Object({
    kind: Type.Literal('persona'),
    persona_id: Type.String(),
    persona_version: Type.Integer(),
    name: Type.String(),
    /** its purpose; may be empty */
    role: Type.String(),
    /** instructions; may be empty */
    orchestration_prompt: Type.String(),
    /** style and character; may be empty */
    personality_prompt: Type.String(),
    pathway_conditions: Type.Array(PathwayCondition),
    ...Manner,
  }),
  Type.Object({ kind: Type.Literal('echo'), ...Manner }),
  Type.Object({ kind: Type.Literal('tone'), frequency_hz: Type.Number(), ...Manner }),
  /** The simulated caller of a test run over a call. */
  Type.Object({ kind: Type.Literal('test_caller'), ...Manner }),
]);
export type AgentSettings = Static<typeof AgentSettings>;
