/** Settings of one configuration, as they are changed (contract 3.5). */
import { type Static, Type } from 'typebox';
import { Closed, Integer, Line, List, Nullable, OneOf, PhoneNumber, Text, Uuid } from '#shared/api/common.ts';
import { Transport } from '#shared/api/sip-directions.ts';
import { codecNames } from '#shared/codecs.ts';
import { described } from '#shared/described.ts';
import { failoverTriggers } from '#shared/trunk-protocol.ts';

const Optional = Type.Optional;

const FailoverEndpoint = Closed({
  host: Text(1, 255, 'Name or address of the endpoint'),
  port: Optional(Integer(1, 65535, 'Port of the endpoint; default: 5061')),
  transport: Optional(described(Transport, 'Always tls; default: tls')),
  priority: Integer(1, 2, '1: secondary; 2: tertiary'),
});
const unique = { uniqueItems: true };
const FailoverPatch = Closed({
  enabled: Optional(Type.Boolean({ description: 'Whether calls fail over to `endpoints`' })),
  endpoints: Optional(List(FailoverEndpoint, 0, 2, 'Endpoints after the primary one; replaces the list')),
  triggers: Optional(
    Type.Array(OneOf(failoverTriggers), {
      minItems: 1,
      maxItems: 3,
      ...unique,
      description: 'What makes a call try the next endpoint; replaces the list',
    }),
  ),
  failback: Optional(
    OneOf(['auto', 'manual'], 'auto: back to the primary once it is healthy; manual: with `failback_now`'),
  ),
  failback_now: Optional(Type.Literal(true, { description: 'Return to the primary endpoint at once' })),
});
const CodecPatch = Closed({
  codecs: Optional(
    Type.Array(OneOf(codecNames), {
      minItems: 1,
      maxItems: 5,
      ...unique,
      description: 'Codecs that are offered, preferred first; replaces the list',
    }),
  ),
  transcode: Optional(Type.Boolean({ description: 'Whether joined legs may differ in codec' })),
});
const AlertPatch = Closed({
  enabled: Optional(Type.Boolean({ description: 'Whether alerts are raised' })),
  thresholds: Optional(
    Closed(
      {
        unreachable_minutes: Optional(Integer(1, 1440, 'Time without a healthy endpoint, minutes')),
        failure_rate_percent: Optional(
          Type.Number({ minimum: 1, maximum: 100, description: 'Share of failed calls, percent' }),
        ),
        failure_rate_window_minutes: Optional(Integer(5, 1440, 'Window of the failure rate, minutes')),
        response_time_ms: Optional(Integer(10, 10_000, 'Mean response time of probes, ms')),
      },
      'When alerts are raised',
    ),
  ),
  channels: Optional(
    Closed(
      {
        email: Optional(
          Type.Boolean({ description: 'Whether they go to `alert_emails` of the organization' }),
        ),
        sms: Optional(
          Type.Boolean({ description: 'Whether they go to `alert_sms_numbers` of the organization' }),
        ),
        webhook: Optional(
          Nullable(Text(1, 2048, 'https:// URL that gets them; null: that of the organization')),
        ),
      },
      'Where alerts go',
    ),
  ),
});

/** The region of the edges that make a number's outbound calls. */
const RegionPatch = Closed({
  region: Optional(
    Nullable(Line(1, 64), 'Region of the edges that place the calls; null: that of the organization'),
  ),
  strict: Optional(Type.Boolean({ description: 'Whether calls fail rather than leave from another region' })),
});

/** Null resets to the defaults; objects merge by key, arrays replace (contract 3.5). */
export const ConfigPatch = Closed({
  phone_number: PhoneNumber('Number of the configuration'),
  direction: OneOf(['inbound', 'outbound'], 'Its direction'),
  configuration_id: Optional(Uuid('Configuration to change; default: the primary one of the direction')),
  failover_config: Optional(Nullable(FailoverPatch, 'Failover; outbound only; null: the defaults')),
  codec_config: Optional(Nullable(CodecPatch, 'Codecs; null: the defaults')),
  alert_config: Optional(Nullable(AlertPatch, 'Alerts; null: the defaults')),
  region_config: Optional(Nullable(RegionPatch, 'Region; outbound only; null: the defaults')),
});
export type ConfigPatch = Static<typeof ConfigPatch>;
