/** SIP configurations (contract sections 2 and 3.3). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Iso,
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
import {
  AuthMode,
  DigestAuth,
  HeaderItem,
  InboundDirection,
  OutboundDirection,
  OutboundOptions,
  RegisterAuth,
  SipEndpoint,
  TransferMode,
} from '#shared/api/sip-directions.ts';
import { described } from '#shared/described.ts';

const Optional = Type.Optional;
const text = Type.String();

/** Maximum SIP configurations of a number (contract 15). */
export const mostConfigurations = 10;

const Numbers = {
  phone_number: Optional(PhoneNumber('One number; exactly one of the two')),
  phone_numbers: Optional(List(PhoneNumber(), 1, 100, 'Several numbers; exactly one of the two')),
};
const Service = Optional(Type.Literal('sip', { description: 'Always sip' }));
const DirectionName = [Type.Literal('inbound'), Type.Literal('outbound')] as const;

export const Attach = Closed({
  ...Numbers,
  directions: List(
    Type.Union([...DirectionName, InboundDirection, OutboundDirection]),
    1,
    10,
    'Directions to add: each an object, or its `type` alone',
  ),
  service: Service,
  sip_endpoint: Optional(described(SipEndpoint, 'For outbound entries without their own')),
  options: Optional(described(OutboundOptions, 'For outbound entries without their own')),
  auth_mode: Optional(described(AuthMode, 'For inbound entries without their own')),
  register_auth: Optional(described(RegisterAuth, 'For inbound entries with `register` without their own')),
  digest_auth: Optional(described(DigestAuth, 'For inbound entries with `digest` without their own')),
});
export type Attach = Static<typeof Attach>;

export const Update = Closed({
  phone_number: PhoneNumber('Number of the configuration'),
  updates: Type.Union(
    [
      Closed({
        ...InboundDirection.properties,
        id: Optional(Uuid('Configuration to change; default: the primary one of the direction')),
      }),
      Closed({
        ...OutboundDirection.properties,
        id: Optional(Uuid('Configuration to change; default: the primary one of the direction')),
      }),
    ],
    { description: 'What to change; what is left out stays' },
  ),
});
export type Update = Static<typeof Update>;

export const Detach = Closed({
  ...Numbers,
  directions: List(
    Type.Union([
      ...DirectionName,
      Closed({
        type: OneOf(['inbound', 'outbound'], 'Direction of the configuration'),
        id: Optional(Uuid('Configuration to remove; default: all of the direction')),
      }),
    ]),
    1,
    10,
    'What to remove: each a direction, or one configuration of it',
  ),
  service: Service,
});
export type Detach = Static<typeof Detach>;

const FailoverConfig = Type.Object({
  enabled: Type.Boolean({ description: 'Whether calls fail over to `endpoints`' }),
  endpoints: Type.Array(
    Type.Object({
      host: Type.String({ description: 'Name or address of the endpoint' }),
      port: Type.Integer({ description: 'Port of the endpoint' }),
      transport: Type.String({ description: 'Always tls' }),
      priority: Type.Integer({ description: '1: secondary; 2: tertiary' }),
    }),
    { description: 'Endpoints after the primary one' },
  ),
  triggers: Type.Array(text, { maxItems: 3, description: 'What makes a call try the next endpoint' }),
  failback: Type.String({
    description: 'auto: back to the primary once it is healthy; manual: with `failback_now`',
  }),
  active_priority: Type.Integer({ description: 'Endpoint that calls use now: 0 is the primary' }),
});
const CodecConfig = Type.Object({
  codecs: Type.Array(text, { maxItems: 5, description: 'Codecs that are offered, preferred first' }),
  transcode: Type.Boolean({ description: 'Whether joined legs may differ in codec' }),
  unavailable: Type.Array(text, {
    maxItems: 5,
    description: 'Codecs whose library no connected edge has: they are never offered',
  }),
});
const AlertConfig = Type.Object({
  enabled: Type.Boolean({ description: 'Whether alerts are raised' }),
  thresholds: Type.Object(
    {
      unreachable_minutes: Type.Integer({ description: 'Time without a healthy endpoint, minutes' }),
      failure_rate_percent: Type.Number({ description: 'Share of failed calls, percent' }),
      failure_rate_window_minutes: Type.Integer({ description: 'Window of the failure rate, minutes' }),
      response_time_ms: Type.Integer({ description: 'Mean response time of probes, ms' }),
    },
    { description: 'When alerts are raised' },
  ),
  channels: Type.Object(
    {
      email: Type.Boolean({ description: 'Whether they go to `alert_emails` of the organization' }),
      sms: Type.Boolean({ description: 'Whether they go to `alert_sms_numbers` of the organization' }),
      webhook: Nullable(text, 'URL that gets them; null: that of the organization'),
    },
    { description: 'Where alerts go' },
  ),
});

/** State of the registration at the customer's server, for records that register. */
const Registration = Type.Object({
  state: OneOf(['registering', 'registered', 'failed', 'ended'], 'Where the registration is'),
  registrar: Type.String({ description: 'Server at which the service registers' }),
  expires_at: Nullable(Iso(), 'When the registration expires; null: there is none'),
  next_try_at: Nullable(Iso(), 'When it is tried next; null: not planned'),
  sip_code: Nullable(Type.Integer(), 'SIP code of the last response; null: none came'),
  last_error: Nullable(text, 'Why the last attempt failed; null: it did not'),
  at: Iso('When this was so'),
  edge_id: Nullable(text, 'Edge that registers; null: none'),
});

export const Configuration = Type.Object({
  id: Type.String({ description: 'Id of the configuration' }),
  number: Type.String({ description: 'E.164 with plus' }),
  org_id: Type.String({ description: 'Id of the organization' }),
  direction: OneOf(['inbound', 'outbound'], 'inbound: calls to the service'),
  priority: Type.Integer({ description: '1 to 100, lower is tried first' }),
  sip_endpoint: Nullable(text, 'Host or SIP URI; null: inbound without one'),
  headers: Nullable(
    Type.Object({
      direction: Type.String({ description: 'Direction of the configuration' }),
      headers: Type.Array(HeaderItem, { maxItems: 15, description: 'Items of the mapping' }),
    }),
    'Header mapping; null: none',
  ),
  options: Type.Object(
    {
      port: Type.Integer({ description: 'Port of the peer' }),
      transport: Type.String({ description: 'Always tls' }),
      secure_media: Type.Boolean({ description: 'Always true' }),
      transfer_mode: TransferMode,
      auth_mode: Optional(described(AuthMode, 'inbound: how callers are admitted')),
      allowed_ips: Optional(
        Type.Array(text, { maxItems: 50, description: 'inbound: addresses and CIDR blocks that may call' }),
      ),
      register_auth: Optional(
        Type.Object(
          {
            username: Type.String({ description: 'User name' }),
            password: Type.String({ description: 'Always masked' }),
          },
          { description: 'With `register`: credentials of the registration' },
        ),
      ),
      digest_auth: Optional(
        Type.Object(
          {
            username: Type.String({ description: 'User name' }),
            password: Type.String({ description: 'Always masked' }),
          },
          { description: 'With `digest`: credentials of the caller' },
        ),
      ),
      sip_username: Optional(Nullable(text, 'outbound: user name for digest; null: none')),
      sip_password: Optional(Nullable(text, 'outbound: masked; null: none')),
      sip_realm: Optional(Nullable(text, 'outbound: realm for which the credentials count; null: any')),
    },
    { description: 'Settings of the configuration' },
  ),
  failover_config: Nullable(FailoverConfig, 'Failover; null: inbound'),
  codec_config: described(CodecConfig, 'Codecs'),
  alert_config: described(AlertConfig, 'Alerts'),
  region_config: Nullable(
    Type.Object({
      region: Nullable(text, 'Region of the edges that place the calls; null: that of the organization'),
      strict: Type.Boolean({ description: 'Whether calls fail rather than leave from another region' }),
    }),
    'Region; null: inbound',
  ),
  inbound_sources: Optional(
    OneOf(['listed', 'none', 'open'], 'inbound: who may call: listed sources, nobody, or everybody'),
  ),
  registration: Nullable(
    Registration,
    'State of the registration; null: it does not register, or no edge has reported',
  ),
  applied: Type.Boolean({ description: 'Whether every connected edge has confirmed this state' }),
  health_status: OneOf(['healthy', 'unreachable', 'unchecked'], 'Whether its endpoints answer probes'),
  created_at: Iso('When it was created'),
  updated_at: Iso('When it was changed last'),
});
export type Configuration = Static<typeof Configuration>;

export const PatchedConfiguration = Plain(
  Type.Object({
    ...Configuration.properties,
    warnings: Type.Array(text, { description: 'Codecs that no connected edge has, in sentences' }),
  }),
);
export type PatchedConfiguration = Static<typeof PatchedConfiguration>['data'];

export const RegisterNowRequest = Closed({
  phone_number: PhoneNumber('Number that registers'),
  configuration_id: Optional(Uuid('Configuration that registers; default: the first')),
});
export const RegisterNow = Plain(
  Type.Object({
    configuration_id: Type.String({ description: 'Id of the configuration' }),
    finished: Type.Boolean({ description: 'Whether the attempt has ended; see registration for the result' }),
    registration: Nullable(Registration, 'Its state; null: no edge has reported'),
  }),
);
export const RegisteringNow = Type.Object(RegisterNow.properties, {
  description: 'The attempt continues; ask GET /v1/sip',
});

const FailedNumber = Type.Object({
  phone_number: Type.String({ description: 'As sent, or in E.164' }),
  error: Type.String({ description: 'Code of the error' }),
  message: Type.String({ description: 'The error in a sentence' }),
});

export const Attached = Plain(
  Type.Object({
    configured: Type.Array(text, {
      description: 'Numbers that now have all entries, in the order of the request',
    }),
    failed: Type.Array(FailedNumber, { description: 'Numbers that were not changed' }),
    register_password_for_pbx: Optional(
      Type.String({ description: 'Password that the PBX must accept; shown only here' }),
    ),
    warnings: Type.Array(text, {
      description: 'Stored settings that may not have the intended effect, in sentences',
    }),
  }),
);

const configurations = {
  inbound: Nullable(Configuration, 'Primary inbound configuration; null: none'),
  outbound: Nullable(Configuration, 'Primary outbound configuration; null: none'),
  configurations: Type.Array(Configuration, {
    maxItems: 10,
    description: 'All of them: inbound first, then by priority',
  }),
};
export const NumberConfigurations = Plain(Type.Object(configurations));
export const Updated = Plain(
  Type.Object({
    ...configurations,
    register_password_for_pbx: Optional(
      Type.String({ description: 'Password that the PBX must accept; shown only here' }),
    ),
    warnings: Optional(
      Type.Array(text, { description: 'Warnings about stored settings that may not work as intended' }),
    ),
  }),
);

export const Detached = Plain(
  Type.Object({
    detached: Type.Array(text, { description: 'Numbers of which something was removed' }),
    failed: Type.Array(
      Type.Object({
        ...FailedNumber.properties,
        direction: Type.String({ description: 'Direction of the entry' }),
      }),
      { description: 'Entries that removed nothing' },
    ),
  }),
);

export const SipNumbers = Plain(
  Type.Object({
    numbers: Type.Array(
      Type.Object({
        phone_number: Type.String({ description: 'E.164 with plus' }),
        directions: Type.Array(text, { maxItems: 2, description: 'Directions that are configured' }),
        sip_endpoint: Nullable(text, 'Endpoint of the primary outbound configuration; null: none'),
        health_status: Type.String({ description: 'Of all outbound configurations together' }),
        configuration_count: Type.Integer({ description: 'Number of configurations' }),
      }),
      { description: 'By number' },
    ),
  }),
);
export const SipNumbersQuery = PageQuery(1000, 1000);

export const NumberQuery = Type.Object({ phone_number: PhoneNumber('Number of the configurations') });

export const ParseDestination = Closed({ input: Text(0, 512, 'Host or SIP URI to read') });
export const ParsedDestination = Plain(
  Type.Object({
    valid: Type.Boolean({ description: 'Whether it can be read' }),
    parsed: Nullable(
      Type.Object({
        host: Type.String({ description: 'In lower case; IPv6 without brackets' }),
        port: Optional(Type.Integer({ description: 'Only when it was given' })),
        user: Optional(Type.String({ description: 'Only when it was given' })),
        transport: Optional(OneOf(['udp', 'tcp', 'tls'], 'Only when it was given')),
        is_private_ip: Type.Boolean({ description: 'Whether it is an address that may not be contacted' }),
        normalized: Type.String({ description: '`sip:[user@]host:port;transport=t`' }),
      }),
      'What it means; null: it cannot be read',
    ),
  }),
);

export const TrunkStatus = Plain(
  Type.Object({
    status: OneOf(['healthy', 'unreachable', 'unchecked'], 'healthy: an endpoint that calls may use answers'),
    response_time_ms: Nullable(Type.Integer(), 'Of the active endpoint, ms; null: it is not healthy'),
    checked_at: Nullable(Iso(), 'Last probe of the active endpoint; null: none'),
    uptime_percentage: Nullable(
      Type.Number(),
      'Share of the probes of 24 hours at which the trunk was healthy, percent; null: no probes',
    ),
    uptime_percentage_30d: Nullable(Type.Number(), 'The same over 30 days; null: no probes'),
    average_response_time_ms: Nullable(
      Type.Integer(),
      'Mean of the successful probes over 24 hours, ms; null: none',
    ),
    endpoints: Type.Array(
      Type.Object({
        configuration_id: Type.String({ description: 'Id of the configuration' }),
        host: Type.String({ description: 'Host of the endpoint' }),
        port: Type.Integer({ description: 'Port of the endpoint' }),
        priority: Type.Integer({
          description: '0: the endpoint of the configuration; 1 and 2: its failover endpoints',
        }),
        status: Type.String({ description: 'By the last probe' }),
        response_time_ms: Nullable(Type.Integer(), 'Of the last probe; null: it failed, or there was none'),
        checked_at: Nullable(Iso(), 'When it was probed last; null: never'),
        consecutive_failures: Type.Integer({ description: 'Failed probes in a row' }),
        active: Type.Boolean({ description: 'Whether the next call uses it first' }),
        edge_id: Nullable(text, 'Edge that probes it; null: none'),
        certificate: Nullable(EndpointCertificate, 'Certificate that it presented last; null: none was seen'),
      }),
      { description: 'All outbound endpoints, failover included' },
    ),
  }),
);
