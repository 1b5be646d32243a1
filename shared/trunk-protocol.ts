/**
 * The edge protocol for outbound trunks: their configuration, commands and reports.
 */
import { type Static, Type } from 'typebox';
import { codecNames } from '#shared/codecs.ts';
import { described } from '#shared/described.ts';
import { Iso, Nullable, oneOf } from '#shared/edge-protocol/schema.ts';

/** Contract 3.5: reasons for a call to fail over. */
export const failoverTriggers = ['unreachable', 'auth_failure', 'timeout'] as const;
export type FailoverTrigger = (typeof failoverTriggers)[number];

export const Endpoint = Type.Object({
  host: Type.String(),
  port: Type.Integer(),
  /** 0: the record's own endpoint; 1 and 2: its failover endpoints */
  priority: Type.Integer(),
});
export type Endpoint = Static<typeof Endpoint>;

/** One outbound configuration of a number (contract 2.2). Header mappings are those of edge-protocol/numbers.ts. */
export const OutboundTrunkCore = {
  id: Type.String(),
  /** 1..100, lower is tried first */
  priority: Type.Integer(),
  /** primary first, then the enabled failover endpoints */
  endpoints: Type.Array(Endpoint, { minItems: 1 }),
  /** failover endpoints that are not enabled: probed, never called */
  standby: Type.Optional(Type.Array(Endpoint)),
  triggers: Type.Array(oneOf(failoverTriggers)),
  failback: oneOf(['auto', 'manual']),
  codecs: Type.Array(oneOf(codecNames)),
  transcode: Type.Boolean(),
  credentials: Nullable(
    Type.Object({ username: Type.String(), password: Type.String(), realm: Nullable(Type.String()) }),
  ),
};

/** A failed attempt of a call at an endpoint (contract 3.4, `failover_attempts`). */
export const FailoverAttempt = Type.Object({
  host: Type.String({ description: 'Host of the endpoint' }),
  port: Type.Integer({ description: 'Port of the endpoint' }),
  priority: Type.Integer({
    description: '0: the endpoint of the configuration; 1 and 2: its failover endpoints',
  }),
  started_at: described(Iso, 'When the attempt began'),
  sip_code: Nullable(Type.Integer(), 'SIP code of the response; null: none came'),
  error: Nullable(Type.String(), 'Why it failed; null: the SIP code says it'),
  duration_ms: Type.Integer({ description: 'How long the attempt took, ms' }),
});
export type FailoverAttempt = Static<typeof FailoverAttempt>;

/** The certificate that an endpoint presented last (contract 3.3). */
export const EndpointCertificate = Type.Object({
  /** distinguished names on one line */
  subject: Type.String(),
  issuer: Type.String(),
  /** DNS names, addresses and URIs; the first 20 */
  names: Type.Array(Type.String()),
  valid_from: Iso,
  expires_at: Iso,
  seen_at: Iso,
});
export type EndpointCertificate = Static<typeof EndpointCertificate>;

/** One OPTIONS probe of one endpoint (contract 3.3). */
export const HealthProbe = Type.Object({
  trunk_id: Type.String(),
  endpoint: Endpoint,
  at: Iso,
  healthy: Type.Boolean(),
  response_time_ms: Nullable(Type.Integer()),
  sip_code: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  consecutive_failures: Type.Integer(),
  /** whether the next call tries this endpoint first */
  active: Type.Boolean(),
  /** whether other edges should know: it is unreachable, or was when it was last reported */
  changed: Type.Optional(Type.Boolean()),
  /** absent: not read since the trunk's last report that had it */
  certificate: Type.Optional(EndpointCertificate),
});
export type HealthProbe = Static<typeof HealthProbe>;

/** Contract 3.1. */
export const DiscoveryAttempt = Type.Object({
  address: Type.String({ description: 'Address that was probed' }),
  port: Type.Integer({ description: 'Port that was probed' }),
  transport: described(oneOf(['udp', 'tcp', 'tls']), 'Transport of the probe'),
  response_time_ms: Nullable(Type.Integer(), 'Time to the response, ms; null: none came'),
  response_code: Nullable(Type.Integer(), 'SIP code of the response; null: none came'),
  user_agent: Nullable(Type.String(), 'User-Agent or Server of the response; null: none'),
  error: Nullable(
    oneOf(['timeout', 'refused', 'unreachable', 'tls_error']),
    'Why there was no response; null: there was one',
  ),
  message: Type.Optional(Type.String({ description: 'Details' })),
});
export type DiscoveryAttempt = Static<typeof DiscoveryAttempt>;

export const DiscoveryResult = Type.Object({
  status: described(oneOf(['running', 'completed', 'failed']), 'Where the discovery is'),
  error: Nullable(
    Type.Object({
      code: described(
        oneOf(['DNS_FAILURE', 'DISCOVERY_TIMEOUT', 'INTERNAL_ERROR', 'TARGET_NOT_ALLOWED']),
        'Code of the error',
      ),
      message: Type.String({ description: 'The error in a sentence' }),
    }),
    'Why it failed; null: it did not',
  ),
  resolved_addresses: Type.Array(Type.String(), { description: 'Addresses of the host' }),
  srv_records: Type.Array(
    Type.Object({
      service: Type.String({ description: 'Service of the record' }),
      target: Type.String({ description: 'Host of the record' }),
      port: Type.Integer({ description: 'Port of the record' }),
      priority: Type.Integer({ description: 'Priority of the record, lower first' }),
      weight: Type.Integer({ description: 'Weight of the record among those of its priority' }),
    }),
    { description: 'SRV records of the host' },
  ),
  attempts: Type.Array(DiscoveryAttempt, { description: 'Every probe' }),
  recommended: Nullable(
    Type.Object({
      port: Type.Integer({ description: 'Port to use' }),
      transport: described(oneOf(['udp', 'tcp', 'tls']), 'Transport to use'),
      detected_system: Type.String({ description: 'What answers; `unknown`: nothing matches' }),
      confidence: Type.Number({ description: 'How certain that is, 0 to 1' }),
      evidence: Type.Array(Type.String(), { description: 'The traits that say so' }),
      user_agent: Nullable(Type.String(), 'User-Agent or Server; null: none'),
      codecs: Type.Array(Type.String(), { description: 'Codecs of its SDP' }),
      methods: Type.Array(Type.String(), { description: 'Methods of its Allow header' }),
      usable: Type.Boolean({ description: 'Whether it can be used: TLS 1.2 or higher' }),
      reason: Type.String({ description: 'Why it can or cannot' }),
    }),
    'How to reach it best; null: it runs, or nothing answered',
  ),
  tls: Nullable(
    Type.Object({
      version: Type.String({ description: 'Version of TLS' }),
      cipher: Type.String({ description: 'Cipher suite' }),
      subject: Type.String({ description: 'Subject of the certificate' }),
      issuer: Type.String({ description: 'Issuer of the certificate' }),
      valid_to: described(Iso, 'When the certificate expires'),
      trusted: Type.Boolean({ description: 'Whether calls would accept the certificate' }),
    }),
    'TLS handshake; null: there was none',
  ),
});
export type DiscoveryResult = Static<typeof DiscoveryResult>;
