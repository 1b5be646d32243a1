/** Asks an endpoint by OPTIONS whether it is there (RFC 3261 section 11, contract 3.3). */
import { randomBytes, randomUUID } from 'node:crypto';
import type { DialTarget } from '../call/ports.ts';
import { capabilities, type Environment } from './environment.ts';
import { contactOf } from './headers.ts';
import { placeOf } from './outbound-invite.ts';
import type { NewRequest, RequestSent } from './srf.ts';
import { warningText } from './warning-text.ts';

export interface ProbeOutcome {
  /** Status of the endpoint's response; null when there was none. */
  readonly sipCode: number | null;
  /** From the request to the response, a connection to be made included; null without response. */
  readonly responseTimeMs: number | null;
  /** Why there is no response; null when there is one. */
  readonly error: string | null;
}

export interface ProberOptions {
  readonly environment: Environment;
  readonly request: (request: NewRequest, sent: RequestSent) => void;
}

/** Sends OPTIONS to `target`. Never rejects: what goes wrong is the outcome. @param timeoutMs for the whole probe */
export function probe(
  { environment, request }: ProberOptions,
  target: DialTarget,
  timeoutMs: number,
): Promise<ProbeOutcome> {
  const { clock, publicAddress, software } = environment;
  const place = placeOf('', target);
  const startedAt = clock.now();
  return new Promise((resolve) => {
    const done = (sipCode: number | null, error: string | null): void => {
      timer.cancel();
      const responseTimeMs = sipCode === null ? null : Math.round(clock.now() - startedAt);
      resolve({ sipCode, responseTimeMs, error });
    };
    const timer = clock.after(timeoutMs, () => done(null, 'timeout'));
    const us = publicAddress === null ? 'localhost' : publicAddress.replace(/:\d+$/, '');
    const options: NewRequest = {
      method: 'OPTIONS',
      ...place,
      headers: {
        'Call-ID': randomUUID(),
        From: `<sip:probe@${us}>;tag=${randomBytes(8).toString('hex')}`,
        To: `<${place.uri.replace(/;transport=tls$/, '')}>`,
        // RFC 3261 section 11.1 lets OPTIONS have a Contact, and some peers want one.
        Contact: contactOf(publicAddress ?? 'localhost', place.uri, {}),
        'User-Agent': software,
        ...capabilities(),
      },
    };
    request(options, (error, sent) => {
      if (error || !sent) return done(null, error instanceof Error ? error.message : String(error));
      sent.on('response', ({ status, source_address, headers, reason }) => {
        if (status < 200) return;
        // The engine made it itself: nobody answered.
        if (source_address !== '') done(status, null);
        else done(null, status === 408 ? 'timeout' : (warningText(headers) ?? reason));
      });
    });
  });
}
