/** What one probe of one address, port and transport gives, and the errors of sockets in its terms. */
import { connectionFault, socketFault } from '#shared/connection-faults.ts';
import type { SipTransport } from '#shared/sip-destination.ts';
import type { DiscoveryAttempt, DiscoveryResult } from '#shared/trunk-protocol.ts';
import type { SipResponse } from './sip-response.ts';

/** What to probe. */
export interface Candidate {
  readonly address: string;
  readonly port: number;
  readonly transport: SipTransport;
  /** The name that stands in the request and, with TLS, in the certificate. */
  readonly host: string;
}

export type TlsFacts = NonNullable<DiscoveryResult['tls']>;

export interface AttemptResult {
  readonly responseTimeMs: number | null;
  readonly response: SipResponse | null;
  readonly error: DiscoveryAttempt['error'];
  readonly message: string | null;
  /** Of the handshake, when there was one; also when no response came. */
  readonly tls: TlsFacts | null;
}

export interface ProbeLimits {
  /** Milliseconds for one probe, connecting included. */
  readonly attemptMs: number;
  /** Bytes of a response at most. */
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

/** @param error of a socket before its connection stood */
export function connectFailed(error: Error): AttemptResult {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ECONNRESET') return unanswered('refused');
  switch (connectionFault(socketFault({ error, connected: false, certificateSeen: false }))) {
    case 'refused':
      return unanswered('refused');
    case 'connect_timeout':
      return unanswered('timeout');
    default:
      return unanswered('unreachable', code || error.message);
  }
}
