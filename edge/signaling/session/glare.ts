/** Colliding offers (RFC 3261 section 14, RFC 3311 section 5). Pure. */

/** The offer/answer exchanges in progress in a dialog. */
export interface Exchanges {
  /** The first INVITE is ours. */
  readonly ourInvite: boolean;
  /**
   * The offer of the first INVITE has been answered: in the 2xx, or in a reliable provisional response (RFC
   * 3262).
   */
  readonly negotiated: boolean;
  /** The ACK to our last 2xx has arrived. */
  readonly acknowledged: boolean;
  /** A re-INVITE or UPDATE with an offer of ours is pending. */
  readonly ourOffer: boolean;
  /** Our 2xx to an INVITE without offer carried one, and its answer is due in the ACK. */
  readonly ourLateOffer: boolean;
  /** A re-INVITE or UPDATE from the peer waits for our answer. */
  readonly theirRequest: boolean;
}

/** The status that rejects a request arriving at a bad moment, null when it may proceed. */
export function collision(method: 'INVITE' | 'UPDATE', hasOffer: boolean, now: Exchanges): 491 | 500 | null {
  if (method === 'UPDATE' && !hasOffer) return null;
  // RFC 3261 section 14.2: a second INVITE before the final answer to the first gets 500 with Retry-After.
  if (now.theirRequest) return 500;
  // RFC 3311 section 5.2: the INVITE's offer, ours or the peer's, has not been answered yet.
  if (!now.negotiated) return now.ourInvite ? 491 : 500;
  if (now.ourOffer || now.ourLateOffer) return 491;
  if (method === 'INVITE' && !now.acknowledged) return 491;
  return null;
}

/**
 * Pause after a 491 before the retry, ms (RFC 3261 section 14.1): 2.1 to 4 s for the side that chose the Call-ID,
 * 0 to 2 s for the other, in steps of 10 ms.
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
