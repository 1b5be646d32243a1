/** The lifetime of a subscription's dialog (RFC 6665). */

import type { Headers, SipRequest } from '../message/message.ts';
import { parseDeltaSeconds } from '../message/numbers.ts';
import type { Context } from './context.ts';
import type { Session } from './session.ts';

/**
 * Default lifetime of a subscription without Expires, in seconds (section 4.1.2.1 leaves it to the event
 * package).
 */
const DEFAULT_S = 3_600;
const LONGEST_S = 7 * 24 * 3_600;
/** How late a refresh may be, in seconds. */
const GRACE_S = 64;

/**
 * Ends a subscription's dialog unless it is refreshed in time: a subscription may end without a message (section
 * 4.2.1). `sources`: messages; the first with an Expires counts.
 */
export function watchSubscription(context: Context, session: Session, ...sources: Headers[]): void {
  const expires = sources.map((headers) => headers.get('expires')).find((value) => value !== undefined);
  const seconds = Math.min(parseDeltaSeconds(expires ?? '') ?? DEFAULT_S, LONGEST_S);
  session.expiry?.cancel();
  session.expiry = context.clock.after((seconds + GRACE_S) * 1_000, () => {
    context.ends.end(session, { by: 'engine', notice: context.ends.expiryNotice(session) });
  });
}

/** Section 4.1.3: whether this NOTIFY ends the subscription. */
export function endsSubscription(request: SipRequest): boolean {
  if (request.method !== 'NOTIFY') return false;
  return (request.headers.get('subscription-state') ?? '').toLowerCase().startsWith('terminated');
}
