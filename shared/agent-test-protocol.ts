/**
 * Messages between edge and control during a test run over a call, as JSON text frames over one WebSocket that the edge
 * opens (`GET /v1/edge/test-calls/<run id>`, `Authorization: Bearer <one-time key>`). The simulated caller's decisions
 * are made in control; its input and output are at the edge.
 *
 *     edge                                        control
 *      |                     noise, where it is given |
 *      |<---------------------------------------------|
 *      | answered                                     |
 *      |--------------------------------------------->|
 *      | line ... turn (what was heard, measures)     |
 *      |--------------------------------------------->|
 *      |                  say | keys | silence        |
 *      |<---------------------------------------------|
 *      | moved, cut (what was heard of a line)        |
 *      |--------------------------------------------->|
 *      | webhook, tool (of the tested agent)          |
 *      |--------------------------------------------->|
 *      |                        webhook_result, ...   |
 *      |<---------------------------------------------|
 *      | ended (both records), then close             |
 *      |--------------------------------------------->|
 *
 * Closing the socket ends the call.
 */
import { type Static, Type } from 'typebox';
import { WeatherReport } from '#shared/agent-test-weather.ts';
import { CallVariables } from '#shared/edge-protocol/agents.ts';
import { CallRecord } from '#shared/edge-protocol/calls.ts';

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Text = Type.String();
const Ms = Type.Integer();

/** What was heard of the agent between two moves of the caller; turn 0 is before the first one. */
export const HeardTurn = Type.Object({
  /** from the end of the caller's words or keys (in turn 0 from the answer) to the agent's first sound; null: none */
  response_latency_ms: Nullable(Ms),
  /** length of the agent's speech, without pauses */
  speech_ms: Ms,
  /** pauses between its words, longer than the longest within a sentence; without any words: the whole silence */
  silence_ms: Ms,
  /** the caller's move started while the agent spoke */
  barge_in: Type.Boolean(),
  /** after such a move: ms from its start until the agent was silent */
  silent_after_ms: Nullable(Ms),
  /** time in which both spoke */
  overlap_ms: Ms,
  /** from the answer to the agent's first sound, and to the caller's move; null: none; absent: an earlier edge */
  agent_at_ms: Type.Optional(Nullable(Ms)),
  caller_at_ms: Type.Optional(Nullable(Ms)),
  /** transcribed words; null: no transcription is configured, or it failed */
  words: Nullable(Text),
});
export type HeardTurn = Static<typeof HeardTurn>;

const Visited = Type.Object({ node_id: Text, node_name: Text });
const LogLine = Type.Object({
  at: Type.Number(),
  node_id: Nullable(Text),
  message: Text,
  /** A `LogFact` (shared/agent/log-facts.ts), perhaps of another version; earlier edges send none. */
  fact: Type.Optional(Type.Unknown()),
});

/** More of one call are not counted. */
export const mostRequests = 500;
const Tokens = Nullable(Type.Integer({ minimum: 0 }));
const ModelRequest = Type.Object({ model: Text, input_tokens: Tokens, output_tokens: Tokens });
export type ModelRequest = Static<typeof ModelRequest>;

export const AgentTestEvent = Type.Union([
  /** The agent's call, which identifies its log. */
  Type.Object({
    type: Type.Literal('answered'),
    call_id: Nullable(Text),
    /** Whether the agent understands speech; absent: an earlier edge, which does not say. */
    hears: Type.Optional(Type.Boolean()),
  }),
  /** What the agent starts to say, by its own account. */
  Type.Object({
    type: Type.Literal('line'),
    text: Text,
    node_id: Nullable(Text),
    id: Type.Optional(Text),
  }),
  /** A line was cut off: the words of it that were played; empty: none. */
  Type.Object({ type: Type.Literal('cut'), id: Text, text: Text }),
  /** It is the caller's turn; after the last one the call is over. */
  Type.Object({ type: Type.Literal('turn'), last: Type.Boolean(), heard: HeardTurn }),
  /** The caller makes the move it was ordered to; a move that comes too late is not made. */
  Type.Object({ type: Type.Literal('moved') }),
  /** A Webhook node of the agent requests a webhook. */
  Type.Object({
    type: Type.Literal('webhook'),
    id: Type.Integer(),
    node_id: Text,
    request: Type.Object({
      method: Text,
      url: Text,
      headers: Type.Record(Text, Text),
      body: Nullable(Text),
      timeoutMs: Type.Number(),
    }),
  }),
  /** The agent uses a tool. */
  Type.Object({
    type: Type.Literal('tool'),
    id: Type.Integer(),
    tool_id: Text,
    inputs: Type.Unknown(),
    variables: CallVariables,
  }),
  /** Both ends are over; the last turn was sent before. */
  Type.Object({
    type: Type.Literal('ended'),
    caller: CallRecord,
    /** null: the agent's end was never created */
    agent: Nullable(CallRecord),
    /** the transfer target; the transfer is not carried out */
    transferred_to: Nullable(Text),
    /** null: the agent has no nodes */
    visits: Nullable(Type.Array(Visited)),
    variables: CallVariables,
    log: Type.Array(LogLine),
    keys_sent: Type.Array(Text),
    /** of a call with weather; absent: it had none */
    weather: Type.Optional(WeatherReport),
    /** the agent's requests to language models, with the tokens that their servers told; absent: not counted */
    requests: Type.Optional(Type.Array(ModelRequest, { maxItems: mostRequests })),
  }),
]);
export type AgentTestEvent = Static<typeof AgentTestEvent>;

/** How the caller listens after its move. */
const listening = {
  /** ms of the agent's words after which the caller interrupts; null: it listens to the end */
  interrupt_after_ms: Nullable(Ms),
};

export const AgentTestOrder = Type.Union([
  Type.Object({ type: Type.Literal('say'), text: Text, ...listening }),
  Type.Object({
    type: Type.Literal('keys'),
    keys: Type.String({ pattern: '^[0-9*#]{1,64}$' }),
    ...listening,
  }),
  Type.Object({ type: Type.Literal('silence'), ...listening }),
  Type.Object({ type: Type.Literal('hangup'), reason: Text }),
  /** The sound of a given noise of the weather, once, before the call is placed: mu-law at 8 kHz, base64. */
  Type.Object({ type: Type.Literal('noise'), audio: Text }),
  Type.Object({
    type: Type.Literal('webhook_result'),
    id: Type.Integer(),
    result: Type.Object({ status: Nullable(Type.Integer()), body: Type.Unknown(), error: Nullable(Text) }),
  }),
  Type.Object({
    type: Type.Literal('tool_result'),
    id: Type.Integer(),
    result: Type.Object({
      ok: Type.Boolean(),
      data: Type.Unknown(),
      error: Nullable(Text),
      variables: CallVariables,
    }),
  }),
]);
export type AgentTestOrder = Static<typeof AgentTestOrder>;
