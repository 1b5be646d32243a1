/** Shared by all parts of signaling: our identity on the wire, clock, randomness and log. */
import type { Clock } from '#shared/clock.ts';
import { allow } from '#shared/sip-methods.ts';
import type { Log } from '../../call/log.ts';
import { accept, supported } from './headers.ts';
import type { Sent, SrfResponse } from './srf.ts';

/** Time limits of REFERs. */
export interface ReferSettings {
  /** For the outcome of a REFER from the peer; then its subscription ends with 503. */
  readonly subscriptionMs: number;
  /** For the next NOTIFY about a REFER of ours; then its outcome is unknown. */
  readonly outcomeMs: number;
}

export const referTimes: ReferSettings = {
  // As long as a transfer target may ring at most networks, and a second attempt.
  subscriptionMs: 180_000,
  // A transferee that rings reports at least each minute.
  outcomeMs: 60_000,
};

export type ReferOutcome =
  | 'accepted'
  | 'refused'
  | 'succeeded'
  | 'failed'
  /** From the peer: we ended the subscription. */
  | 'timed_out'
  /** Ours: no final outcome was reported. */
  | 'unknown';

/** Session timers (RFC 4028). */
export interface SessionSettings {
  /** Interval to request, seconds. */
  readonly expiresS: number;
  /** Smallest interval to accept, seconds; at least 90 (RFC 4028 section 4). */
  readonly minS: number;
}

export interface Environment {
  /** Whether the engine is the embedded one; otherwise it is a drachtio-server, which refreshes sessions too. */
  readonly engineIsEmbedded: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** 0 <= random() < 1 */
  readonly random: () => number;
  /** Name and version for Server and User-Agent. */
  readonly software: string;
  /** Our name in Warning headers. */
  readonly warnAgent: string;
  /** `host:port` under which peers reach us; null: the engine uses each connection's address. */
  readonly publicAddress: string | null;
  readonly session: SessionSettings;
  readonly refers: ReferSettings;
  /** Counts the outcomes of REFERs. */
  readonly countRefer: (from: 'received' | 'sent', outcome: ReferOutcome) => void;
}

/** Sends a response with our Server header. */
export function respond(
  environment: Environment,
  response: SrfResponse,
  status: number,
  extra: { reason?: string; headers?: Record<string, string>; body?: string } = {},
  sent?: Sent,
): void {
  const options = {
    headers: { Server: environment.software, ...extra.headers },
    ...(extra.body === undefined ? {} : { body: extra.body }),
  };
  if (extra.reason === undefined) response.send(status, options, sent);
  else response.send(status, extra.reason, options, sent);
}

/** Our capabilities, as OPTIONS reports them (RFC 3261 section 11.2). */
export function capabilities(): Record<string, string> {
  return { Allow: allow, Accept: accept, Supported: supported };
}
