/** Limits for one SIP message. */
export interface MessageLimits {
  /** Octets in a whole message, head and body. */
  readonly maxBytes: number;
  /** Header field lines; a folded one counts once. */
  readonly maxHeaders: number;
}

export const DEFAULT_MESSAGE_LIMITS: MessageLimits = {
  // As large as a UDP datagram could be; a large body with several parts has a few KB.
  maxBytes: 65_536,
  // Long Via and Record-Route lists and carriers' own headers together are about fifty.
  maxHeaders: 128,
};
