/** Rejections of calls and of commands. */
import type { ApiErrorCode } from '#shared/errors.ts';

/** What is wrong with a peer's session description; `text` is a sentence about it. */
export interface MediaFault {
  /** `moved`: the answer to an offer of the current session is from another place, or has other keys or another codec. */
  readonly kind: 'no_codec' | 'unusable' | 'moved';
  readonly text: string;
}

/** Rejection of a call, with the SIP response to send. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused';
  readonly sipStatus: number;
  readonly warning: string | undefined;
  readonly mediaFault: MediaFault | undefined;

  /**
   * @param sipStatus final SIP status (3xx to 6xx) for the peer
   * @param warning text of a `Warning: 399` header (RFC 3261 section 20.43) that helps the peer
   */
  constructor(sipStatus: number, message: string, warning?: string, mediaFault?: MediaFault) {
    super(message);
    this.sipStatus = sipStatus;
    this.warning = warning;
    this.mediaFault = mediaFault;
  }
}

/** Two legs whose media is in two media shards, which exchange no audio. */
export class LegsApart extends Error {
  override readonly name = 'LegsApart';

  constructor() {
    super('The calls are in two media shards of the edge, and cannot be joined.');
  }
}

/** The WebRTC connection of a browser was not set up, or it was lost. */
export class BrowserLost extends Error {
  override readonly name = 'BrowserLost';
}

/** A command that failed for a reason with its own API error code. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
  readonly code: ApiErrorCode;

  constructor(code: ApiErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
