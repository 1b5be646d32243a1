import type { SipMessage } from '../../edge/engine/message/message.ts';

export interface TortureCase {
  readonly file: string;
  /** Section of the RFC. */
  readonly section: string;
  /** The required behavior of a user agent on a TLS connection. */
  readonly asks: string;
  /** The outcome in the words of `feed`. */
  readonly said: readonly string[];
  /** Octets that complete an incomplete file. */
  readonly completedBy?: { readonly octets: string; readonly because: string };
  /** Why Content-Length is corrected to the size of the body. */
  readonly lengthCorrected?: string;
  /** Further checks of the (first) accepted message. */
  readonly and?: (message: SipMessage) => void;
}
