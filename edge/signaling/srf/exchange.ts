/** One request outside dialogs and its final response. */
import type { Clock } from '#shared/clock.ts';
import type { HeaderFields } from './headers.ts';
import { warningText } from './refusal.ts';
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
  /** No answer: refused, timed out, or no connection. `error` says why, in a few words. */
  | { readonly kind: 'silent'; readonly error: string };

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
    const timer = clock.after(timeoutMs, () => end({ kind: 'silent', error: 'timeout' }));
    request(message, (error, sent) => {
      if (error || !sent) {
        return end({ kind: 'silent', error: error instanceof Error ? error.message : String(error) });
      }
      sent.on('response', ({ status, reason, headers, source_address }) => {
        if (status < 200) return;
        // Without a source the engine made it: the peer did not answer.
        if (source_address !== '') end({ kind: 'answered', status, reason, headers, sent: sent.headers });
        else end({ kind: 'silent', error: status === 408 ? 'timeout' : (warningText(headers) ?? reason) });
      });
    });
  };
}
