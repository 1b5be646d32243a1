/** What control asks of the edge at once. */
import { type Static, Type } from 'typebox';
import { AgentSettings, CallVariables } from './agents.ts';
import { Nullable, oneOf } from './schema.ts';

export const EdgeCommand = Type.Union([
  /** Ends a call; without effect when it has ended. */
  Type.Object({ kind: Type.Literal('call.stop'), call_id: Type.String() }),
  /** Calls `to` from an attached number. The answer says that the call was taken, not how it ends. */
  Type.Object({
    kind: Type.Literal('call.place'),
    call_id: Type.String(),
    org_id: Type.String(),
    /** that calls, E.164 with plus */
    number: Type.String(),
    /** E.164 with plus, an extension, or a SIP URI */
    to: Type.String(),
    agent: AgentSettings,
    variables: CallVariables,
    /** keys to press right after the answer; `w` waits 0.5 s */
    precall_dtmf: Nullable(Type.String()),
    /** what to do when a mailbox answers (contract 9.1) */
    voicemail: Type.Object({
      action: oneOf(['hangup', 'leave_message', 'ignore']),
      message: Nullable(Type.String()),
    }),
  }),
  /**
   * Hands the call over (contract 9.3). The answer says that the transfer has begun, or why it cannot:
   * CALL_NOT_ACTIVE, NO_OUTBOUND_ROUTE, REFER_NOT_SUPPORTED, TARGET_NOT_ALLOWED.
   */
  Type.Object({
    kind: Type.Literal('call.transfer'),
    call_id: Type.String(),
    /** E.164 with plus, an extension, or a SIP URI */
    target: Type.String(),
    method: oneOf(['bridge', 'refer']),
    /** warm transfer: spoken to the target first */
    announcement: Nullable(Type.String()),
    /** warm transfer: key by which the target takes the call */
    accept_key: Nullable(Type.String()),
  }),
  /** Makes the trunk's own endpoint the active one at once (contract 3.5, `failback_now`). */
  Type.Object({ kind: Type.Literal('trunk.failback'), trunk_id: Type.String() }),
  /**
   * Tries the registration of an inbound record now. The answer says that the try was ordered; its outcome comes as a
   * report of type `registration` with the same `order_id`.
   */
  Type.Object({
    kind: Type.Literal('registration.try'),
    order_id: Type.String(),
    trunk_id: Type.String(),
  }),
  /** Explores a host (contract 3.1); a null port or transport was not given. */
  Type.Object({
    kind: Type.Literal('discovery.run'),
    discovery_id: Type.String(),
    host: Type.String(),
    port: Nullable(Type.Integer()),
    transport: Nullable(oneOf(['udp', 'tcp', 'tls'])),
  }),
  /** Calls over one trunk to see whether it works (contract 3.2). */
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
   * Calls a number of the edge's own for a test run (contract 6.4 `transport: sip`). Before the INVITE the edge opens
   * `GET /v1/edge/test-calls/<run id>`, over which the run goes on (test-call-protocol.ts); the call lives no longer
   * than that socket. The answer says that the socket is open and the call placed.
   */
  Type.Object({
    kind: Type.Literal('agent_test.call'),
    run_id: Type.String(),
    org_id: Type.String(),
    /** whose agent is tested, E.164 with plus */
    number: Type.String(),
    /** who calls, E.164 with plus */
    caller_number: Type.String(),
    /** opens that one socket, once */
    key: Type.String(),
    /** of a pathway; null: its own */
    start_node_id: Nullable(Type.String()),
    /** what the agent knows besides the number's request_data */
    variables: CallVariables,
    /** of the caller; null: the edge's default */
    voice: Nullable(Type.String()),
    language: Type.String(),
    max_minutes: Type.Integer(),
    /** ms of the agent's first words after which the caller interrupts them; null: it listens to the end */
    interrupt_after_ms: Nullable(Type.Integer()),
  }),
]);
export type EdgeCommand = Static<typeof EdgeCommand>;
