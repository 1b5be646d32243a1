/** Offers that cross (RFC 3261 section 14, RFC 3311 section 5). Pure. */

/** The offer/answer exchanges that go on in a dialog. */
export interface Exchanges {
  /** The offer of the first INVITE has its answer: in the 2xx, or in a reliable provisional response (RFC 3262). */
  readonly negotiated: boolean;
  /** The ACK to our last 2xx has come. */
  readonly acknowledged: boolean;
  /** A re-INVITE or UPDATE with an offer of ours has no final answer. */
  readonly ourOffer: boolean;
  /** Our 2xx to an INVITE without offer carried one, and its answer is due in the ACK. */
  readonly ourLateOffer: boolean;
  /** A re-INVITE or UPDATE of the peer waits for our answer. */
  readonly theirRequest: boolean;
}

/** The status with which a request that comes at a bad moment is refused, null when it may go on. */
export function collision(method: 'INVITE' | 'UPDATE', hasOffer: boolean, now: Exchanges): 491 | 500 | null {
  if (method === 'UPDATE' && !hasOffer) return null;
  // RFC 3261 section 14.2: a second INVITE before the final answer to the first gets 500 with Retry-After.
  if (now.theirRequest) return 500;
  // RFC 3311 section 5.2: the INVITE's offer has no answer yet.
  if (!now.negotiated) return 500;
  if (now.ourOffer || now.ourLateOffer) return 491;
  if (method === 'INVITE' && !now.acknowledged) return 491;
  return null;
}

/**
 * How long to wait after a 491 before the next try, ms (RFC 3261 section 14.1): 2.1 to 4 s for the side that
 * chose the Call-ID, 0 to 2 s for the other, in steps of 10 ms.
 * @param random 0 <= random < 1
 */
export function glarePauseMs(ownsCallId: boolean, random: number): number {
  const step = 10;
  return ownsCallId ? 2100 + step * Math.floor(random * 191) : step * Math.floor(random * 201);
}

/** Seconds of Retry-After with a 500 (RFC 3261 section 14.2: 0 to 10). */
export function retryAfterOverlap(random: number): number {
  return Math.floor(random * 11);
}
