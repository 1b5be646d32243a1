/** Commands from control to the edge. */
import { type Static, Type } from 'typebox';
import { Weather } from '../agent-test-weather.ts';
import { supervisionModes } from '../supervision.ts';
import { AgentSettings, CallVariables } from './agents.ts';
import { Nullable, oneOf } from './schema.ts';

export const EdgeCommand = Type.Union([
  /** Ends a call; no effect when it has ended. */
  Type.Object({
    kind: Type.Literal('call.stop'),
    call_id: Type.String(),
    /** Q.850 cause and custom headers of the BYE, if the call ends with one */
    cause: Type.Optional(Type.Integer()),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  }),
  /** Calls `to` from an attached number. The result says that the call was accepted, not how it ends. */
  Type.Object({
    kind: Type.Literal('call.place'),
    call_id: Type.String(),
    org_id: Type.String(),
    /** the calling number, E.164 with plus */
    number: Type.String(),
    /** E.164 with plus, an extension, or a SIP URI */
    to: Type.String(),
    agent: AgentSettings,
    variables: CallVariables,
    /** keys to send right after the answer; `w` waits 0.5 s */
    precall_dtmf: Nullable(Type.String()),
    /** what to do when voicemail answers (contract 9.1) */
    voicemail: Type.Object({
      action: oneOf(['hangup', 'leave_message', 'ignore']),
      message: Nullable(Type.String()),
    }),
  }),
  /**
   * The agent of a phone session that is for an agent instead of a number. The edge keeps it until the session expires:
   * QUOTA_EXCEEDED when it has too many.
   */
  Type.Object({
    kind: Type.Literal('phone.agent'),
    session_id: Type.String(),
    org_id: Type.String(),
    /** of the pathway or persona: shown as the called party */
    name: Type.String(),
    agent: AgentSettings,
    /** ms since the epoch */
    expires_at: Type.Integer(),
  }),
  /**
   * Transfers the call (contract 9.3). The result says that the transfer has started, or why it cannot:
   * CALL_NOT_ACTIVE, NO_OUTBOUND_ROUTE, REFER_NOT_SUPPORTED, TARGET_NOT_ALLOWED.
   */
  Type.Object({
    kind: Type.Literal('call.transfer'),
    call_id: Type.String(),
    /** E.164 with plus, an extension, or a SIP URI; for `refer` also a tel URI */
    target: Type.String(),
    method: oneOf(['bridge', 'refer']),
    /** warm transfer: spoken to the target first */
    announcement: Nullable(Type.String()),
    /** warm transfer: key with which the target accepts the call */
    accept_key: Nullable(Type.String()),
  }),
  /** Puts the call on hold, or ends its hold: CALL_NOT_ACTIVE when it is not up, or is being transferred. */
  Type.Object({
    kind: Type.Literal('call.hold'),
    call_id: Type.String(),
    action: oneOf(['hold', 'resume']),
  }),
  /** Parks a call: PARK_SLOT_TAKEN, CALL_NOT_ACTIVE. */
  Type.Object({
    kind: Type.Literal('call.park'),
    call_id: Type.String(),
    slot: Type.String(),
    timeout_s: Type.Integer(),
    /** when nobody has retrieved it by then */
    on_timeout: oneOf(['agent', 'end']),
  }),
  /**
   * Joins a parked call with another call of the edge, or null: with its agent: CALL_NOT_PARKED, CALL_NOT_ACTIVE,
   * CALL_WITHOUT_AGENT, CALLS_APART, SERVICE_UNAVAILABLE.
   */
  Type.Object({
    kind: Type.Literal('call.retrieve'),
    call_id: Type.String(),
    by_call_id: Type.Union([Type.String(), Type.Null()]),
  }),
  /** Of a call in a conference: CALL_NOT_IN_CONFERENCE. `remove` ends the call. */
  Type.Object({
    kind: Type.Literal('call.conference'),
    call_id: Type.String(),
    action: oneOf(['mute', 'unmute', 'remove']),
  }),
  /**
   * What a supervisor at the call does from now on: SUPERVISOR_NOT_THERE, CALL_TAKEN_OVER by another one, CALL_NOT_ACTIVE
   * when it is on hold.
   */
  Type.Object({
    kind: Type.Literal('supervise.mode'),
    call_id: Type.String(),
    /** of the supervisor */
    session_id: Type.String(),
    mode: oneOf(supervisionModes),
    /** for the agent that gets the call back: what was said */
    note: Nullable(Type.String()),
  }),
  /** Tells the agent's model, or the person in its place, something: CALL_NOT_ACTIVE, AGENT_TAKES_NO_TEXT. */
  Type.Object({
    kind: Type.Literal('supervise.whisper'),
    call_id: Type.String(),
    text: Type.String(),
  }),
  /** Pauses or resumes the recording of a call: RECORDING_NOT_ACTIVE when it has none. */
  Type.Object({
    kind: Type.Literal('call.recording'),
    call_id: Type.String(),
    action: oneOf(['pause', 'resume']),
  }),
  /** Makes the trunk's primary endpoint the active one at once (contract 3.5, `failback_now`). */
  Type.Object({ kind: Type.Literal('trunk.failback'), trunk_id: Type.String() }),
  /**
   * Attempts the registration of an inbound record now. The result says that the attempt was ordered; its outcome is a
   * report of type `registration` with the same `order_id`.
   */
  Type.Object({
    kind: Type.Literal('registration.try'),
    order_id: Type.String(),
    trunk_id: Type.String(),
  }),
  /** Discovers a host (contract 3.1); null: no port or transport was given. */
  Type.Object({
    kind: Type.Literal('discovery.run'),
    discovery_id: Type.String(),
    host: Type.String(),
    port: Nullable(Type.Integer()),
    transport: Nullable(oneOf(['udp', 'tcp', 'tls'])),
  }),
  /** Places a test call over one trunk (contract 3.2). */
  Type.Object({
    kind: Type.Literal('test_call.run'),
    test_call_id: Type.String(),
    org_id: Type.String(),
    number: Type.String(),
    to: Type.String(),
    trunk_id: Type.String(),
    max_seconds: Type.Integer(),
    dtmf: Nullable(Type.String()),
  }),
  /**
   * Calls one of the edge's own numbers for a test run (contract 6.4 `transport: sip`), or an agent of others (6.13):
   * `agent` answers in place of a number's, `to` is called over the trunks of `number`. Before the INVITE the edge
   * opens `GET /v1/edge/test-calls/<run id>`, which carries the run (agent-test-protocol.ts); the call ends with that
   * socket. The result says that the socket is open and the call placed.
   */
  Type.Object({
    kind: Type.Literal('agent_test.call'),
    run_id: Type.String(),
    org_id: Type.String(),
    /** the number whose agent is tested, E.164 with plus; with `agent` any name; with `to` the number that calls */
    number: Type.String(),
    /** the calling number, E.164 with plus */
    caller_number: Type.String(),
    /** opens that socket, once */
    key: Type.String(),
    /** for a pathway; null: its own */
    start_node_id: Nullable(Type.String()),
    /** additional variables for the agent, besides the number's request_data */
    variables: CallVariables,
    /** of the caller; null: the edge's default */
    voice: Nullable(Type.String()),
    language: Type.String(),
    max_minutes: Type.Integer(),
    /** ms of the agent's first words after which the caller interrupts; null: it listens to the end */
    interrupt_after_ms: Nullable(Type.Integer()),
    /** absent: calm; an edge that does not know it reports none at the end */
    weather: Type.Optional(Weather),
    /** of the weather */
    seed: Type.Optional(Type.Integer()),
    /** a bot of others, which no number is configured for; absent: the number's agent */
    agent: Type.Optional(AgentSettings),
    /** leaves this edge: E.164 with plus, an extension, or a SIP URI; absent: the edge calls itself */
    to: Type.Optional(Type.String()),
    /** refused by an edge that could not tell what the agent says */
    needs_words: Type.Optional(Type.Boolean()),
    /** of an INVITE to `to`, by name */
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** the call is recorded, at the tested end where that is here; absent: it is not */
    record: Type.Optional(Type.Boolean()),
  }),
]);
export type EdgeCommand = Static<typeof EdgeCommand>;
