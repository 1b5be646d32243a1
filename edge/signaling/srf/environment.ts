/** What every part of signaling shares: who we are on the wire, time, chance and the log. */
import type { Clock } from '#shared/clock.ts';
import type { Log } from '../../call/log.ts';
import { accept, allow, supported } from './headers.ts';
import type { SessionSettings } from './session-timer.ts';
import type { Sent, SrfResponse } from './srf.ts';

/** How long REFERs may take. */
export interface ReferSettings {
  /** For the outcome of a REFER of the peer; then its subscription ends with 503. */
  readonly subscriptionMs: number;
  /** For the next NOTIFY about a REFER of ours; then its outcome is unknown. */
  readonly outcomeMs: number;
}

export type ReferOutcome =
  | 'accepted'
  | 'refused'
  | 'succeeded'
  | 'failed'
  /** Of the peer's: the subscription was ended by us. */
  | 'timed_out'
  /** Of ours: nothing final came. */
  | 'unknown';

export interface Environment {
  readonly clock: Clock;
  readonly log: Log;
  /** 0 <= random() < 1 */
  readonly random: () => number;
  /** Name and version for Server and User-Agent. */
  readonly software: string;
  /** Name of us in Warning headers. */
  readonly warnAgent: string;
  /** `host:port` under which peers reach us; null: the engine knows it for each connection. */
  readonly publicAddress: string | null;
  readonly session: SessionSettings;
  readonly refers: ReferSettings;
  /** Counts what becomes of REFERs. */
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

/** What we can do, as OPTIONS tells it (RFC 3261 section 11.2). */
export function capabilities(): Record<string, string> {
  return { Allow: allow, Accept: accept, Supported: supported };
}
