/**
 * What edge and control say to each other, as JSON text frames over one WebSocket that the edge opens
 * (`GET /v1/edge/link`, `Authorization: Bearer <edge token>`).
 *
 *     edge                                   control
 *      | hello (outbox id, config version)      |
 *      |--------------------------------------->|
 *      |      welcome (acknowledged sequence)   |
 *      |<---------------------------------------|
 *      |      config (whole, or changes)        |
 *      |<---------------------------------------|
 *      | applied (version)                      |
 *      |--------------------------------------->|
 *      | report (in order, at least once)       |
 *      |--------------------------------------->|
 *      |      ack (highest sequence stored)     |
 *      |<---------------------------------------|
 *      |      command        result             |
 *      |<-------------- ... ------------------->|
 *
 * Reports carry `seq`, which grows by one per report of an outbox. Control stores a report and its `seq` in
 * one transaction and ignores what it has; so a repeated delivery changes nothing.
 */
import { type Static, Type } from 'typebox';
import { codecNames } from '#shared/codecs.ts';
import { DiscoveryResult, FailoverAttempt, HealthProbe, OutboundTrunkCore } from '#shared/trunk-protocol.ts';

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Iso = Type.String({ minLength: 20, maxLength: 30 });

// ---------------------------------------------------------------- configuration

export const CallVariables = Type.Record(Type.String(), Type.Unknown());
export type CallVariables = Static<typeof CallVariables>;

/**
 * A tool that an agent may use (contract 8.1), as a language model is told of it. Control runs it: its target, its
 * template and its credentials stay there.
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
  /** ms after which a run is given up by the agent: the tool's own time-out with all its retries */
  timeout_ms: Type.Integer(),
});
export type AgentTool = Static<typeof AgentTool>;

/** When a persona goes on in a pathway (contract 12); its pathway stands in `pathways` of the configuration. */
export const PathwayCondition = Type.Object({
  name: Type.String(),
  /** says in plain words when */
  prompt: Type.String(),
  pathway_id: Type.String(),
  /** 0 is the live graph */
  pathway_version: Type.Integer(),
  start_node_id: Nullable(Type.String()),
});
export type PathwayCondition = Static<typeof PathwayCondition>;

/** How an agent of any kind behaves on a call (contract 9.1 and 10). */
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
  /** stored with the call, told to nobody */
  metadata: Type.Optional(CallVariables),
  /** called when the agent cannot start (contract section 10) */
  fallback_number: Nullable(Type.String()),
  /** targets that an agent may transfer to, by name; `default` is the one without a name */
  transfer_list: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** `base` or `turbo` (contract 9.1) */
  model: Type.Optional(Type.String()),
  /** 0..1 */
  temperature: Type.Optional(Type.Number()),
  /** what a persona or a task may use */
  tools: Type.Optional(Type.Array(AgentTool)),
};

/** Who answers a call. `echo` and `tone` are for tests and line checks. */
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
  /** Instructions in plain words, for a language model. */
  Type.Object({ kind: Type.Literal('task'), task: Type.String(), ...Manner }),
  /** A version of a persona (contract 12), with what its call_config and default_tools say merged into the manner. */
  Type.Object({
    kind: Type.Literal('persona'),
    persona_id: Type.String(),
    persona_version: Type.Integer(),
    name: Type.String(),
    /** what it is there for; empty when none was given */
    role: Type.String(),
    /** what to do, and how to go about it; may be empty */
    orchestration_prompt: Type.String(),
    /** how to be; may be empty */
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

/** Contract 2.8, as stored. */
export const HeaderMapping = Type.Union([
  Type.Object({
    type: Type.Literal('custom'),
    key: Type.String(),
    value: Type.String(),
    passthrough: Type.Optional(Type.Boolean()),
  }),
  Type.Object({
    type: Type.Literal('uui'),
    target: Type.String(),
    purpose: Type.Optional(Type.String()),
    encoding: Type.Literal('hex'),
    content: Type.Optional(Type.String()),
  }),
]);
export type HeaderMapping = Static<typeof HeaderMapping>;

/** One inbound configuration of a number (contract 2.2). */
export const InboundTrunk = Type.Object({
  id: Type.String(),
  auth_mode: Type.Union([Type.Literal('ip'), Type.Literal('register')]),
  /** addresses or CIDR blocks */
  allowed_ips: Type.Array(Type.String()),
  /** host whose resolved addresses are allowed too */
  source_host: Nullable(Type.String()),
  headers: Type.Array(HeaderMapping),
  codecs: Type.Array(Type.Enum([...codecNames])),
  /** where the edge registers for this record; absent or null with `auth_mode` ip */
  registration: Type.Optional(
    Nullable(
      Type.Object({
        host: Type.String(),
        port: Type.Integer(),
        /** Contact user and authorization user */
        username: Type.String(),
        /** derived (contract 2.3), in plain text */
        password: Type.String(),
        expires_s: Type.Integer(),
      }),
    ),
  ),
});
export type InboundTrunk = Static<typeof InboundTrunk>;

/** One outbound configuration of a number, its credentials in plain text. */
export const OutboundTrunk = Type.Object({ ...OutboundTrunkCore, headers: Type.Array(HeaderMapping) });
export type OutboundTrunk = Static<typeof OutboundTrunk>;

/** What outgoing calls are limited to, against toll fraud. Null or absent: no limit of that kind. */
export const CallLimits = Type.Object({
  /** outgoing calls at a time */
  concurrent: Type.Optional(Nullable(Type.Integer())),
  /** outgoing calls begun within 60 s */
  per_minute: Type.Optional(Nullable(Type.Integer())),
  /** E.164 prefixes with plus; when there are any, only numbers that begin with one are called */
  allowed_prefixes: Type.Optional(Nullable(Type.Array(Type.String()))),
  /** E.164 prefixes with plus that are never called; the longest prefix that fits decides between the two lists */
  blocked_prefixes: Type.Optional(Nullable(Type.Array(Type.String()))),
});
export type CallLimits = Static<typeof CallLimits>;

export const NumberConfig = Type.Object({
  /** E.164 with plus */
  number: Type.String(),
  org_id: Type.String(),
  call_limits: Type.Optional(CallLimits),
  inbound: Type.Array(InboundTrunk),
  /** by priority; empty: calls cannot be made from this number */
  outbound: Type.Array(OutboundTrunk),
  /** null: the number is known, but nobody answers (480) */
  agent: Nullable(AgentSettings),
});
export type NumberConfig = Static<typeof NumberConfig>;

/** A pathway version as the edge needs it; the graph is validated by shared/agent when it is loaded. */
export const PathwayConfig = Type.Object({
  pathway_id: Type.String(),
  version: Type.Integer(),
  org_id: Type.String(),
  name: Type.String(),
  nodes: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  edges: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  /** those that its nodes name and that are there */
  tools: Type.Optional(Type.Array(AgentTool)),
});
export type PathwayConfig = Static<typeof PathwayConfig>;

export const OrgConfig = Type.Object({
  org_id: Type.String(),
  /** hex; signs webhooks and the stream handshake (contract 13, stream.md) */
  signing_secret: Type.String(),
  call_limits: Type.Optional(CallLimits),
});
export type OrgConfig = Static<typeof OrgConfig>;

/** Everything that the edge needs to take calls. Kept on disk, so calls go on while control is away. */
export const EdgeConfig = Type.Object({
  version: Type.Integer(),
  organizations: Type.Array(OrgConfig),
  numbers: Type.Array(NumberConfig),
  pathways: Type.Array(PathwayConfig),
  /** networks in CIDR form that outgoing connections may reach although they are private (contract 1.9) */
  allowed_private_targets: Type.Array(Type.String()),
  /** whether inbound calls are taken from every source when a number lists none (SIP_OPEN_INBOUND) */
  open_inbound: Type.Boolean(),
});
export type EdgeConfig = Static<typeof EdgeConfig>;

/** The difference between two configurations, by key: what is new or altered, and what is gone. */
export const EdgeConfigChange = Type.Object({
  from_version: Type.Integer(),
  version: Type.Integer(),
  organizations: Type.Array(OrgConfig),
  numbers: Type.Array(NumberConfig),
  pathways: Type.Array(PathwayConfig),
  removed_organizations: Type.Array(Type.String()),
  removed_numbers: Type.Array(Type.String()),
  /** `<pathway id>@<version>` */
  removed_pathways: Type.Array(Type.String()),
});
export type EdgeConfigChange = Static<typeof EdgeConfigChange>;

// ---------------------------------------------------------------- reports

export const MediaVerdict = Type.Union([
  Type.Literal('two_way'),
  Type.Literal('send_only'),
  Type.Literal('receive_only'),
  Type.Literal('none'),
]);
export type MediaVerdict = Static<typeof MediaVerdict>;

/** Quality of one call (contract 3.4), from RTCP and from arrival times. Null: not measured. */
export const MediaReport = Type.Object({
  packets_sent: Type.Integer(),
  packets_received: Type.Integer(),
  packets_lost: Type.Integer(),
  /** RFC 3550 section 6.4.1 interarrival jitter */
  jitter_ms: Nullable(Type.Number()),
  round_trip_ms: Nullable(Type.Number()),
  /** share of our packets that the peer's last RTCP report says it lost, 0..100; absent: no report came */
  peer_loss_percent: Type.Optional(Type.Number()),
  /** ITU-T G.107 E-model estimate, 1..5 */
  mos: Nullable(Type.Number()),
  verdict: MediaVerdict,
  /** probable cause when the verdict is not two_way, one sentence */
  cause: Nullable(Type.String()),
});
export type MediaReport = Static<typeof MediaReport>;

export const TranscriptEntry = Type.Object({
  id: Type.String(),
  at: Iso,
  user: Type.Union([Type.Literal('user'), Type.Literal('assistant'), Type.Literal('agent-action')]),
  text: Type.String(),
  node_id: Nullable(Type.String()),
  node_name: Nullable(Type.String()),
});
export type TranscriptEntry = Static<typeof TranscriptEntry>;

/** One SIP message of a call, as it stood on the wire but for redacted secrets (contract 3.4). */
export const TraceMessage = Type.Object({
  at: Iso,
  direction: Type.Union([Type.Literal('sent'), Type.Literal('received')]),
  /** `address:port`, IPv6 in brackets */
  local: Type.String(),
  remote: Type.String(),
  transport: Type.Union([Type.Literal('tls'), Type.Literal('wss')]),
  start_line: Type.String(),
  raw: Type.String(),
});
export type TraceMessage = Static<typeof TraceMessage>;

export const CallRecord = Type.Object({
  id: Type.String(),
  org_id: Type.String(),
  /** the call that this one came of by a transfer */
  parent_id: Type.Optional(Nullable(Type.String())),
  /** whom the call was handed over to, as it was named */
  transferred_to: Type.Optional(Nullable(Type.String())),
  /** the test run whose call this is, either end of it */
  test_run_id: Type.Optional(Nullable(Type.String())),
  answered_by: Type.Optional(
    Nullable(Type.Union([Type.Literal('human'), Type.Literal('voicemail'), Type.Literal('unknown')])),
  ),
  sip_call_id: Type.String(),
  direction: Type.Union([Type.Literal('inbound'), Type.Literal('outbound')]),
  from: Type.String(),
  to: Type.String(),
  /** the configured number of ours that the call belongs to */
  number: Type.String(),
  trunk_id: Nullable(Type.String()),
  source_ip: Nullable(Type.String()),
  started_at: Iso,
  answered_at: Nullable(Iso),
  ended_at: Nullable(Iso),
  status: Type.Union([
    Type.Literal('queued'),
    Type.Literal('initiated'),
    Type.Literal('ringing'),
    Type.Literal('in-progress'),
    Type.Literal('completed'),
    Type.Literal('failed'),
    Type.Literal('busy'),
    Type.Literal('no-answer'),
    Type.Literal('canceled'),
  ]),
  sip_code: Nullable(Type.Integer()),
  sip_reason: Nullable(Type.String()),
  /** code of shared/termination.ts, null while the call goes on */
  termination: Nullable(Type.String()),
  termination_detail: Nullable(Type.String()),
  hangup_by: Nullable(
    Type.Union([
      Type.Literal('agent'),
      Type.Literal('peer'),
      Type.Literal('api'),
      Type.Literal('transfer'),
      Type.Literal('timeout'),
      Type.Literal('error'),
    ]),
  ),
  codec: Nullable(Type.String()),
  media: Nullable(MediaReport),
  /** endpoints that an outbound call tried in vain, in order */
  failover_attempts: Type.Optional(Type.Array(FailoverAttempt)),
  agent_kind: Nullable(Type.String()),
  pathway_id: Nullable(Type.String()),
  pathway_version: Nullable(Type.Integer()),
  persona_id: Type.Optional(Nullable(Type.String())),
  /** minutes */
  max_duration: Nullable(Type.Integer()),
  request_data: CallVariables,
  metadata: Type.Optional(CallVariables),
  variables: CallVariables,
});
export type CallRecord = Static<typeof CallRecord>;

const oneOf = <const T extends readonly string[]>(values: T) => Type.Enum<T[number][]>([...values]);

/** A test call as it now stands (contract 3.2); the last report has a `result` other than `pending`. */
export const TestCallState = Type.Object({
  status: oneOf([
    'queued',
    'initiated',
    'ringing',
    'in-progress',
    'completed',
    'failed',
    'busy',
    'no-answer',
  ]),
  result: oneOf(['pending', 'connected', 'failed', 'busy', 'no_answer']),
  /** from answer to end; 0 when unanswered */
  duration_seconds: Type.Number(),
  sip_code: Nullable(Type.Integer()),
  sip_call_id: Nullable(Type.String()),
  codec: Nullable(Type.String()),
  error: Nullable(Type.String()),
  /** what is wrong with the trunk, one sentence; null before the end and when nothing is */
  diagnosis: Nullable(Type.String()),
  timeline: Type.Array(
    Type.Object({
      event: oneOf([
        'initiated',
        'trying',
        'ringing',
        'early_media',
        'answered',
        'media_confirmed',
        'dtmf_sent',
        'failover',
        'completed',
        'failed',
        'busy',
        'no_answer',
      ]),
      at: Iso,
      detail: Type.String(),
    }),
  ),
  /** null before the answer */
  media: Nullable(
    Type.Object({
      packets_sent: Type.Integer(),
      packets_received: Type.Integer(),
      verdict: MediaVerdict,
    }),
  ),
});
export type TestCallState = Static<typeof TestCallState>;

/** A binding at a customer's registrar. */
export const RegistrationState = Type.Object({
  state: oneOf(['registering', 'registered', 'failed', 'ended']),
  /** `host:port` as configured */
  registrar: Type.String(),
  at: Iso,
  /** when the binding ends unless it is refreshed; null without one */
  expires_at: Nullable(Iso),
  /** SIP status of the last answer */
  sip_code: Nullable(Type.Integer()),
  /** one sentence; stays until the next success */
  last_error: Nullable(Type.String()),
});
export type RegistrationState = Static<typeof RegistrationState>;

export const ReportBody = Type.Union([
  /** The call as it now stands, whole; replaces what was stored. The last one has `ended_at`. */
  Type.Object({ type: Type.Literal('call'), call: CallRecord }),
  /** More lines of the conversation. */
  Type.Object({
    type: Type.Literal('transcript'),
    call_id: Type.String(),
    entries: Type.Array(TranscriptEntry),
  }),
  /** More messages of the call's SIP trace, in order. `truncated`: some are missing, the limit was reached. */
  Type.Object({
    type: Type.Literal('trace'),
    call_id: Type.String(),
    messages: Type.Array(TraceMessage),
    truncated: Type.Boolean(),
  }),
  /** OPTIONS probes since the last such report, oldest first. */
  Type.Object({
    type: Type.Literal('health'),
    probes: Type.Array(HealthProbe),
    /** trunks whose next call uses another endpoint first than before, after what the probes say */
    moves: Type.Optional(
      Type.Array(Type.Object({ trunk_id: Type.String(), active_priority: Type.Integer() })),
    ),
  }),
  /** A discovery as it now stands, whole. The last one is not `running`. */
  Type.Object({ type: Type.Literal('discovery'), discovery_id: Type.String(), result: DiscoveryResult }),
  /** A registration as it now stands, after every change. */
  Type.Object({
    type: Type.Literal('registration'),
    trunk_id: Type.String(),
    ...RegistrationState.properties,
  }),
  /** A test call as it now stands, whole. */
  Type.Object({
    type: Type.Literal('test_call'),
    test_call_id: Type.String(),
    ...TestCallState.properties,
  }),
]);
export type ReportBody = Static<typeof ReportBody>;

export const Report = Type.Object({ seq: Type.Integer(), at: Iso, body: ReportBody });
export type Report = Static<typeof Report>;

// ---------------------------------------------------------------- frames

export const EdgeToControl = Type.Union([
  Type.Object({
    type: Type.Literal('hello'),
    protocol: Type.Literal(1),
    /** stable over restarts: made once per data folder */
    edge_id: Type.String(),
    /** the outbox whose sequence numbers the reports carry */
    outbox_id: Type.String(),
    /** configuration version that the edge works with; 0: none */
    config_version: Type.Integer(),
    sip: Type.Object({ host: Type.String(), port: Type.Integer() }),
    rtp: Type.Object({ ip: Type.String(), port_min: Type.Integer(), port_max: Type.Integer() }),
    /** codecs whose libraries are present */
    codecs: Type.Array(Type.String()),
    software: Type.String(),
    /** the edge's clock when the frame was sent */
    at: Type.Optional(Iso),
  }),
  Type.Object({ type: Type.Literal('applied'), version: Type.Integer() }),
  Type.Object({ type: Type.Literal('report'), reports: Type.Array(Report) }),
  Type.Object({
    type: Type.Literal('result'),
    id: Type.String(),
    ok: Type.Boolean(),
    error: Type.Optional(Type.String()),
    /** code of shared/errors.ts that the API answers with, when the command itself was at fault */
    code: Type.Optional(Type.String()),
  }),
  /** Every 10 s: what the edge measures of itself, Prometheus name to value. */
  Type.Object({
    type: Type.Literal('status'),
    metrics: Type.Record(Type.String(), Type.Number()),
    /** the edge's clock when the frame was sent */
    at: Type.Optional(Iso),
  }),
]);
export type EdgeToControl = Static<typeof EdgeToControl>;

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

export const ControlToEdge = Type.Union([
  Type.Object({ type: Type.Literal('welcome'), acknowledged: Type.Integer() }),
  Type.Object({ type: Type.Literal('config'), config: EdgeConfig }),
  Type.Object({ type: Type.Literal('change'), change: EdgeConfigChange }),
  Type.Object({ type: Type.Literal('ack'), seq: Type.Integer() }),
  Type.Object({
    type: Type.Literal('command'),
    id: Type.String(),
    command: EdgeCommand,
    /**
     * by the edge's clock: what is read later is refused, because whoever asked for it was told that it failed;
     * absent: never too late
     */
    expires_at: Type.Optional(Iso),
  }),
]);
export type ControlToEdge = Static<typeof ControlToEdge>;
