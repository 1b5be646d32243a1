/** Limits for one SIP message. */
export interface MessageLimits {
  /** Octets in a whole message, head and body. */
  readonly maxBytes: number;
  /** Header field lines; a folded one counts once. */
  readonly maxHeaders: number;
}

export const DEFAULT_MESSAGE_LIMITS: MessageLimits = { maxBytes: 65_536, maxHeaders: 128 };
