/** SIP configurations (contract sections 2 and 3.3). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  Line,
  List,
  Nullable,
  OneOf,
  PageQuery,
  PhoneNumber,
  Plain,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { EndpointCertificate } from '#shared/api/endpoint-certificate.ts';
import { codecNames } from '#shared/codecs.ts';
import { transferModes } from '#shared/transfer-mode.ts';
import { failoverTriggers } from '#shared/trunk-protocol.ts';

const Optional = Type.Optional;
const text = Type.String();

/** Maximum SIP configurations of a number (contract 15). */
export const mostConfigurations = 10;

/** Only `tls` is accepted; the other two are listed so that the error can say why. */
const Transport = OneOf(['tls', 'udp', 'tcp']);

const mapped = { type: Type.Literal('custom'), key: Text(1, 128), value: Text(0, 1024) };
const HeaderItem = Type.Union([
  Closed({ ...mapped, passthrough: Optional(Type.Boolean()) }),
  Closed({
    type: Type.Literal('uui'),
    target: Text(1, 128),
    purpose: Optional(Text(0, 64)),
    encoding: Type.Literal('hex'),
    content: Optional(Text(0, 1024)),
  }),
]);
const Headers = (direction: 'inbound' | 'outbound') =>
  Nullable(Closed({ direction: Type.Literal(direction), headers: List(HeaderItem, 0, 15) }));

const TransferMode = OneOf(
  transferModes,
  'Targets of a REFER from the peer: none, SIP users at the own hosts of the configuration, or also phone numbers and outbound configurations',
);
const common = {
  port: Optional(Integer(1, 65535)),
  transport: Optional(Transport),
  secure_media: Optional(Type.Boolean()),
  transfer_mode: Optional(TransferMode),
};
const InboundOptions = Closed({ ...common, allowed_ips: Optional(List(Text(1, 64), 0, 50)) });
const OutboundOptions = Closed({
  ...common,
  sip_username: Optional(Nullable(Line(1, 128))),
  sip_password: Optional(Nullable(Line(1, 256))),
  sip_realm: Optional(Nullable(Line(1, 255))),
});

const AuthMode = OneOf(['ip', 'register', 'digest']);
const RegisterAuth = Closed({ username: Line(1, 128), password: Line(8, 256) });
/** Letters that no PBX writes with escapes; an address of the form `user@host` is one too. */
const DigestUser = Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9._~+@-]+$' });
const DigestAuth = Closed({ username: DigestUser, password: Line(8, 256) });
const Priority = Integer(1, 100);
const SipEndpoint = Text(1, 255, 'Host or SIP URI');

export const InboundDirection = Closed({
  type: Type.Literal('inbound'),
  priority: Optional(Priority),
  auth_mode: Optional(AuthMode),
  register_auth: Optional(RegisterAuth),
  digest_auth: Optional(DigestAuth),
  sip_endpoint: Optional(Nullable(SipEndpoint)),
  headers: Optional(Headers('inbound')),
  options: Optional(InboundOptions),
});
export type InboundDirection = Static<typeof InboundDirection>;

export const OutboundDirection = Closed({
  type: Type.Literal('outbound'),
  priority: Optional(Priority),
  sip_endpoint: Optional(SipEndpoint),
  headers: Optional(Headers('outbound')),
  options: Optional(OutboundOptions),
});
export type OutboundDirection = Static<typeof OutboundDirection>;

const Numbers = {
  phone_number: Optional(PhoneNumber()),
  phone_numbers: Optional(List(PhoneNumber(), 1, 100)),
};
const Service = Optional(Type.Literal('sip'));
const DirectionName = [Type.Literal('inbound'), Type.Literal('outbound')] as const;

export const Attach = Closed({
  ...Numbers,
  directions: List(Type.Union([...DirectionName, InboundDirection, OutboundDirection]), 1, 10),
  service: Service,
  sip_endpoint: Optional(SipEndpoint),
  options: Optional(OutboundOptions),
  auth_mode: Optional(AuthMode),
  register_auth: Optional(RegisterAuth),
  digest_auth: Optional(DigestAuth),
});
export type Attach = Static<typeof Attach>;

export const Update = Closed({
  phone_number: PhoneNumber(),
  updates: Type.Union([
    Closed({ ...InboundDirection.properties, id: Optional(Uuid()) }),
    Closed({ ...OutboundDirection.properties, id: Optional(Uuid()) }),
  ]),
});
export type Update = Static<typeof Update>;

export const Detach = Closed({
  ...Numbers,
  directions: List(
    Type.Union([...DirectionName, Closed({ type: OneOf(['inbound', 'outbound']), id: Optional(Uuid()) })]),
    1,
    10,
  ),
  service: Service,
});
export type Detach = Static<typeof Detach>;

const FailoverEndpoint = Closed({
  host: Text(1, 255),
  port: Optional(Integer(1, 65535)),
  transport: Optional(Transport),
  priority: Integer(1, 2),
});
const unique = { uniqueItems: true };
const FailoverPatch = Closed({
  enabled: Optional(Type.Boolean()),
  endpoints: Optional(List(FailoverEndpoint, 0, 2)),
  triggers: Optional(Type.Array(OneOf(failoverTriggers), { minItems: 1, maxItems: 3, ...unique })),
  failback: Optional(OneOf(['auto', 'manual'])),
  failback_now: Optional(Type.Literal(true, { description: 'Return to the primary endpoint at once' })),
});
const CodecPatch = Closed({
  codecs: Optional(Type.Array(OneOf(codecNames), { minItems: 1, maxItems: 5, ...unique })),
  transcode: Optional(Type.Boolean()),
});
const AlertPatch = Closed({
  enabled: Optional(Type.Boolean()),
  thresholds: Optional(
    Closed({
      unreachable_minutes: Optional(Integer(1, 1440)),
      failure_rate_percent: Optional(Type.Number({ minimum: 1, maximum: 100 })),
      failure_rate_window_minutes: Optional(Integer(5, 1440)),
      response_time_ms: Optional(Integer(10, 10_000)),
    }),
  ),
  channels: Optional(
    Closed({
      email: Optional(Type.Boolean()),
      sms: Optional(Type.Boolean()),
      webhook: Optional(Nullable(Text(1, 2048, 'An https:// URL'))),
    }),
  ),
});

/** The region of the edges that make a number's outbound calls. */
const RegionPatch = Closed({
  region: Optional(Nullable(Line(1, 64))),
  strict: Optional(Type.Boolean({ description: 'Whether calls fail rather than leave from another region' })),
});

/** Null resets to the defaults; objects merge by key, arrays replace (contract 3.5). */
export const ConfigPatch = Closed({
  phone_number: PhoneNumber(),
  direction: OneOf(['inbound', 'outbound']),
  configuration_id: Optional(Uuid()),
  failover_config: Optional(Nullable(FailoverPatch)),
  codec_config: Optional(Nullable(CodecPatch)),
  alert_config: Optional(Nullable(AlertPatch)),
  region_config: Optional(Nullable(RegionPatch)),
});
export type ConfigPatch = Static<typeof ConfigPatch>;

const FailoverConfig = Type.Object({
  enabled: Type.Boolean(),
  endpoints: Type.Array(
    Type.Object({ host: text, port: Type.Integer(), transport: text, priority: Type.Integer() }),
  ),
  triggers: Type.Array(text, { maxItems: 3 }),
  failback: text,
  active_priority: Type.Integer(),
});
const CodecConfig = Type.Object({
  codecs: Type.Array(text, { maxItems: 5 }),
  transcode: Type.Boolean(),
  unavailable: Type.Array(text, {
    maxItems: 5,
    description: 'Codecs whose library no connected edge has: they are never offered',
  }),
});
const AlertConfig = Type.Object({
  enabled: Type.Boolean(),
  thresholds: Type.Object({
    unreachable_minutes: Type.Integer(),
    failure_rate_percent: Type.Number(),
    failure_rate_window_minutes: Type.Integer(),
    response_time_ms: Type.Integer(),
  }),
  channels: Type.Object({ email: Type.Boolean(), sms: Type.Boolean(), webhook: Nullable(text) }),
});

/** State of the registration at the customer's server, for records that register. */
const Registration = Type.Object({
  state: OneOf(['registering', 'registered', 'failed', 'ended']),
  registrar: text,
  expires_at: Nullable(Iso()),
  next_try_at: Nullable(Iso()),
  sip_code: Nullable(Type.Integer()),
  last_error: Nullable(text),
  at: Iso(),
  edge_id: Nullable(text),
});

export const Configuration = Type.Object({
  id: text,
  number: text,
  org_id: text,
  direction: OneOf(['inbound', 'outbound']),
  priority: Type.Integer(),
  sip_endpoint: Nullable(text),
  headers: Nullable(Type.Object({ direction: text, headers: Type.Array(HeaderItem, { maxItems: 15 }) })),
  options: Type.Object({
    port: Type.Integer(),
    transport: text,
    secure_media: Type.Boolean(),
    transfer_mode: TransferMode,
    auth_mode: Optional(AuthMode),
    allowed_ips: Optional(Type.Array(text, { maxItems: 50 })),
    register_auth: Optional(Type.Object({ username: text, password: text })),
    digest_auth: Optional(Type.Object({ username: text, password: text })),
    sip_username: Optional(Nullable(text)),
    sip_password: Optional(Nullable(text)),
    sip_realm: Optional(Nullable(text)),
  }),
  failover_config: Nullable(FailoverConfig),
  codec_config: CodecConfig,
  alert_config: AlertConfig,
  region_config: Nullable(Type.Object({ region: Nullable(text), strict: Type.Boolean() })),
  inbound_sources: Optional(OneOf(['listed', 'none', 'open'])),
  registration: Nullable(Registration),
  applied: Type.Boolean({ description: 'Whether every connected edge has confirmed this state' }),
  health_status: OneOf(['healthy', 'unreachable', 'unchecked']),
  created_at: Iso(),
  updated_at: Iso(),
});
export type Configuration = Static<typeof Configuration>;

export const PatchedConfiguration = Plain(
  Type.Object({ ...Configuration.properties, warnings: Type.Array(text) }),
);
export type PatchedConfiguration = Static<typeof PatchedConfiguration>['data'];

export const RegisterNowRequest = Closed({
  phone_number: PhoneNumber(),
  configuration_id: Optional(Uuid()),
});
export const RegisterNow = Plain(
  Type.Object({
    configuration_id: text,
    finished: Type.Boolean({ description: 'Whether the attempt has ended; see registration for the result' }),
    registration: Nullable(Registration),
  }),
);
export const RegisteringNow = Type.Object(RegisterNow.properties, {
  description: 'The attempt continues; ask GET /v1/sip',
});

const FailedNumber = Type.Object({ phone_number: text, error: text, message: text });

export const Attached = Plain(
  Type.Object({
    configured: Type.Array(text),
    failed: Type.Array(FailedNumber),
    register_password_for_pbx: Optional(text),
    warnings: Type.Array(text),
  }),
);

const configurations = {
  inbound: Nullable(Configuration),
  outbound: Nullable(Configuration),
  configurations: Type.Array(Configuration, { maxItems: 10 }),
};
export const NumberConfigurations = Plain(Type.Object(configurations));
export const Updated = Plain(
  Type.Object({
    ...configurations,
    register_password_for_pbx: Optional(text),
    warnings: Optional(
      Type.Array(text, { description: 'Warnings about stored settings that may not work as intended' }),
    ),
  }),
);

export const Detached = Plain(
  Type.Object({
    detached: Type.Array(text),
    failed: Type.Array(Type.Object({ ...FailedNumber.properties, direction: text })),
  }),
);

export const SipNumbers = Plain(
  Type.Object({
    numbers: Type.Array(
      Type.Object({
        phone_number: text,
        directions: Type.Array(text, { maxItems: 2 }),
        sip_endpoint: Nullable(text),
        health_status: text,
        configuration_count: Type.Integer(),
      }),
    ),
  }),
);
export const SipNumbersQuery = PageQuery(1000, 1000);

export const NumberQuery = Type.Object({ phone_number: PhoneNumber() });

export const ParseDestination = Closed({ input: Text(0, 512) });
export const ParsedDestination = Plain(
  Type.Object({
    valid: Type.Boolean(),
    parsed: Nullable(
      Type.Object({
        host: text,
        port: Optional(Type.Integer()),
        user: Optional(text),
        transport: Optional(OneOf(['udp', 'tcp', 'tls'])),
        is_private_ip: Type.Boolean(),
        normalized: text,
      }),
    ),
  }),
);

export const TrunkStatus = Plain(
  Type.Object({
    status: OneOf(['healthy', 'unreachable', 'unchecked']),
    response_time_ms: Nullable(Type.Integer()),
    checked_at: Nullable(Iso()),
    uptime_percentage: Nullable(Type.Number()),
    uptime_percentage_30d: Nullable(Type.Number()),
    average_response_time_ms: Nullable(Type.Integer()),
    endpoints: Type.Array(
      Type.Object({
        configuration_id: text,
        host: text,
        port: Type.Integer(),
        priority: Type.Integer(),
        status: text,
        response_time_ms: Nullable(Type.Integer()),
        checked_at: Nullable(Iso()),
        consecutive_failures: Type.Integer(),
        active: Type.Boolean(),
        edge_id: Nullable(text),
        certificate: Nullable(EndpointCertificate),
      }),
    ),
  }),
);
