/**
 * The edge protocol for outbound trunks: their configuration, commands and reports.
 */
import { type Static, Type } from 'typebox';
import { codecNames } from '#shared/codecs.ts';
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
  host: Type.String(),
  port: Type.Integer(),
  priority: Type.Integer(),
  started_at: Iso,
  sip_code: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  duration_ms: Type.Integer(),
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
  address: Type.String(),
  port: Type.Integer(),
  transport: oneOf(['udp', 'tcp', 'tls']),
  response_time_ms: Nullable(Type.Integer()),
  response_code: Nullable(Type.Integer()),
  user_agent: Nullable(Type.String()),
  error: Nullable(oneOf(['timeout', 'refused', 'unreachable', 'tls_error'])),
  message: Type.Optional(Type.String()),
});
export type DiscoveryAttempt = Static<typeof DiscoveryAttempt>;

export const DiscoveryResult = Type.Object({
  status: oneOf(['running', 'completed', 'failed']),
  error: Nullable(
    Type.Object({
      code: oneOf(['DNS_FAILURE', 'DISCOVERY_TIMEOUT', 'INTERNAL_ERROR', 'TARGET_NOT_ALLOWED']),
      message: Type.String(),
    }),
  ),
  resolved_addresses: Type.Array(Type.String()),
  srv_records: Type.Array(
    Type.Object({
      service: Type.String(),
      target: Type.String(),
      port: Type.Integer(),
      priority: Type.Integer(),
      weight: Type.Integer(),
    }),
  ),
  attempts: Type.Array(DiscoveryAttempt),
  recommended: Nullable(
    Type.Object({
      port: Type.Integer(),
      transport: oneOf(['udp', 'tcp', 'tls']),
      detected_system: Type.String(),
      /** 0..1, and the evidence */
      confidence: Type.Number(),
      evidence: Type.Array(Type.String()),
      user_agent: Nullable(Type.String()),
      codecs: Type.Array(Type.String()),
      methods: Type.Array(Type.String()),
      usable: Type.Boolean(),
      reason: Type.String(),
    }),
  ),
  tls: Nullable(
    Type.Object({
      version: Type.String(),
      cipher: Type.String(),
      subject: Type.String(),
      issuer: Type.String(),
      valid_to: Iso,
      trusted: Type.Boolean(),
    }),
  ),
});
export type DiscoveryResult = Static<typeof DiscoveryResult>;
