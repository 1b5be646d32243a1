/** Checks with OPTIONS whether an endpoint is reachable (RFC 3261 section 11, contract 3.3). */

import { randomBytes, randomUUID } from 'node:crypto';
import { connectionProblem } from '#shared/connection-faults.ts';
import type { DialTarget } from '../call/ports/dialing.ts';
import { destinationOf } from './invite/outbound-invite.ts';
import { registrarHostPort } from './registration/register-request.ts';
import { NoEngine } from './srf/engine-errors.ts';
import { capabilities, type Environment } from './srf/environment.ts';
import type { Exchange, Silence } from './srf/exchange.ts';
import { contactOf } from './srf/headers.ts';

export interface ProbeOutcome {
  /** Status of the endpoint's response; null when there was none. */
  readonly sipCode: number | null;
  /** From the request to the response, including connection setup; null without a response. */
  readonly responseTimeMs: number | null;
  /** Why there was no response; null when there was one. */
  readonly error: string | null;
}

export interface ProberOptions {
  readonly environment: Environment;
  readonly exchange: Exchange;
}

/**
 * Sends OPTIONS to `target`. Never rejects: failures are part of the outcome. @param timeoutMs for the whole
 * probe
 */
export function probe(
  { environment, exchange }: ProberOptions,
  target: DialTarget,
  timeoutMs: number,
): Promise<ProbeOutcome> {
  const { clock, publicAddress, software } = environment;
  const destination = destinationOf('', target);
  const startedAt = clock.elapsed();
  const us = publicAddress === null ? 'localhost' : publicAddress.replace(/:\d+$/, '');
  const headers = {
    'Call-ID': randomUUID(),
    From: `<sip:probe@${us}>;tag=${randomBytes(8).toString('hex')}`,
    To: `<${destination.uri.replace(/;transport=tls$/, '')}>`,
    // RFC 3261 section 11.1 allows a Contact in OPTIONS, and some peers require one.
    Contact: contactOf(publicAddress ?? 'localhost', destination.uri, {}),
    'User-Agent': software,
    ...capabilities(),
  };
  return new Promise((resolve) => {
    exchange({ method: 'OPTIONS', ...destination, headers }, timeoutMs, (outcome) => {
      if (outcome.kind === 'silent') {
        return resolve({ sipCode: null, responseTimeMs: null, error: silenceOf(target, outcome.why) });
      }
      const responseTimeMs = Math.round(clock.elapsed() - startedAt);
      resolve({ sipCode: outcome.status, responseTimeMs, error: null });
    });
  });
}

/** Text for a timeout or a fault on our side; why the peer cannot be reached, in a sentence. */
function silenceOf(target: DialTarget, why: Silence): string {
  switch (why.kind) {
    case 'timeout':
      return 'timeout';
    case 'no_engine':
      return new NoEngine().message;
    case 'unreachable':
      return connectionProblem(registrarHostPort(target), why.failure);
  }
}
