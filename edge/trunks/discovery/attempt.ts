/** The result of one probe of one address, port and transport, and socket errors in the same form. */
import { socketFailure } from '#shared/connection-faults.ts';
import type { SipTransport } from '#shared/sip-destination.ts';
import type { DiscoveryAttempt, DiscoveryResult } from '#shared/trunk-protocol.ts';
import type { SipResponse } from './sip-response.ts';

/** What to probe. */
export interface Candidate {
  readonly address: string;
  readonly port: number;
  readonly transport: SipTransport;
  /** The name used in the request and, with TLS, expected in the certificate. */
  readonly host: string;
}

export type TlsFacts = NonNullable<DiscoveryResult['tls']>;

export interface AttemptResult {
  readonly responseTimeMs: number | null;
  readonly response: SipResponse | null;
  readonly error: DiscoveryAttempt['error'];
  readonly message: string | null;
  /** From the handshake, even when no response came; null without a handshake. */
  readonly tls: TlsFacts | null;
}

export interface ProbeLimits {
  /** Time limit of one probe, including connecting, ms. */
  readonly attemptMs: number;
  /** Maximum size of a response, bytes. */
  readonly maxBytes: number;
}

export function answered(
  response: SipResponse,
  responseTimeMs: number,
  message: string | null = null,
  tls: TlsFacts | null = null,
): AttemptResult {
  return { response, responseTimeMs: Math.round(responseTimeMs), error: null, message, tls };
}

export function unanswered(
  error: NonNullable<AttemptResult['error']>,
  message: string | null = null,
  tls: TlsFacts | null = null,
): AttemptResult {
  return { response: null, responseTimeMs: null, error, message, tls };
}

/** @param error of a socket before it was connected */
export function connectFailed(error: Error): AttemptResult {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ECONNRESET') return unanswered('refused');
  switch (socketFailure({ error, connected: false, certificateSeen: false }).fault) {
    case 'refused':
      return unanswered('refused');
    case 'connect_timeout':
      return unanswered('timeout');
    default:
      return unanswered('unreachable', code || error.message);
  }
}
