/** How long the dialog of a subscription lives (RFC 6665). */

import type { Headers, SipRequest } from '../message/message.ts';
import { parseDeltaSeconds } from '../message/numbers.ts';
import type { Context } from './context.ts';
import type { Session } from './session.ts';

/** A subscription without Expires, in seconds (section 4.1.2.1 leaves it to the event package). */
const DEFAULT_S = 3_600;
const LONGEST_S = 7 * 24 * 3_600;
/** What a refresh may be late. */
const GRACE_S = 64;

/**
 * Lets go of a subscription's dialog unless it is refreshed in time: its end may come without a word (section
 * 4.2.1). `sources`: messages of which the first with Expires counts.
 */
export function watchSubscription(context: Context, session: Session, ...sources: Headers[]): void {
  const expires = sources.map((headers) => headers.get('expires')).find((value) => value !== undefined);
  const seconds = Math.min(parseDeltaSeconds(expires ?? '') ?? DEFAULT_S, LONGEST_S);
  session.expiry?.cancel();
  session.expiry = context.clock.after((seconds + GRACE_S) * 1_000, () => {
    context.ends.end(session, { by: 'engine', notice: context.ends.expiryNotice(session) });
  });
}

/** Section 4.1.3: the subscription ends with this NOTIFY. */
export function endsSubscription(request: SipRequest): boolean {
  if (request.method !== 'NOTIFY') return false;
  return (request.headers.get('subscription-state') ?? '').toLowerCase().startsWith('terminated');
}
