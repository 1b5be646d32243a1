/** What one SIP message may cost. */
export interface MessageLimits {
  /** Octets of a whole message, head and body. */
  readonly maxBytes: number;
  /** Header field lines, folded ones counted once. */
  readonly maxHeaders: number;
}

export const DEFAULT_MESSAGE_LIMITS: MessageLimits = { maxBytes: 65_536, maxHeaders: 128 };
