import type { SipMessage } from '../../edge/engine/message/message.ts';

export interface TortureCase {
  readonly file: string;
  /** Section of the RFC. */
  readonly section: string;
  /** What the message asks of a user agent on a TLS connection. */
  readonly asks: string;
  /** The outcome in the words of `feed`. */
  readonly said: readonly string[];
  /** Octets that make a file whole which is not. */
  readonly completedBy?: { readonly octets: string; readonly because: string };
  /** Why Content-Length is set to the octets that the body has. */
  readonly lengthCorrected?: string;
  /** More to be true of the (first) accepted message. */
  readonly and?: (message: SipMessage) => void;
}
