/** One request outside dialogs and its final response. */

import type { Clock } from '#shared/clock.ts';
import type { ConnectionFailure } from '#shared/connection-faults.ts';
import { engineError, notSentFailure } from './engine-errors.ts';
import type { HeaderFields } from './headers.ts';
import { failureOf } from './refusal.ts';
import type { NewRequest, RequestSent } from './srf.ts';

/** The outcome of a request. */
export type Outcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly reason: string;
      readonly headers: HeaderFields;
      /** Headers of the request as sent on the wire. */
      readonly sent: HeaderFields;
    }
  | { readonly kind: 'silent'; readonly why: Silence };

/** Why there was no answer. */
export type Silence =
  | { readonly kind: 'timeout' }
  /** The request was not sent: a fault on our side. */
  | { readonly kind: 'no_engine' }
  | { readonly kind: 'unreachable'; readonly failure: ConnectionFailure };

/** Sends `request` and calls `done` once, at the latest after `timeoutMs`. */
export type Exchange = (request: NewRequest, timeoutMs: number, done: (outcome: Outcome) => void) => void;

/** @param request sends over the engine; `sent` may be called before it returns */
export function exchangeOver(
  clock: Clock,
  request: (request: NewRequest, sent: RequestSent) => void,
): Exchange {
  return (message, timeoutMs, done) => {
    let over = false;
    const end = (outcome: Outcome): void => {
      if (over) return;
      over = true;
      timer.cancel();
      done(outcome);
    };
    const timer = clock.after(timeoutMs, () => end({ kind: 'silent', why: { kind: 'timeout' } }));
    request(message, (error, sent) => {
      if (error || !sent) {
        return end({ kind: 'silent', why: notSent(error) });
      }
      sent.on('response', ({ status, reason, headers, source_address }) => {
        if (status < 200) return;
        // Without a source the engine made it: the peer did not answer.
        if (source_address !== '') end({ kind: 'answered', status, reason, headers, sent: sent.headers });
        else if (status === 408) end({ kind: 'silent', why: { kind: 'timeout' } });
        else end({ kind: 'silent', why: { kind: 'unreachable', failure: failureOf({ headers, reason }) } });
      });
    });
  };
}

function notSent(error: unknown): Silence {
  const reason = engineError(error);
  if (reason.kind === 'no_engine') return { kind: reason.kind };
  return { kind: 'unreachable', failure: notSentFailure(reason) };
}
