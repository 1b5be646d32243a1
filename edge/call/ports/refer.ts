/** REFER in a dialog (RFC 3515), from either side. */

/** A REFER from the peer. Late calls do nothing. */
export interface PeerRefer {
  /** URI of Refer-To, without its header part. */
  readonly target: string;
  /** Value of the Replaces header that Refer-To embeds, unescaped: an attended transfer. */
  readonly replaces: string | null;
  /** Value of Referred-By (RFC 3892), to be passed on. */
  readonly referredBy: string | null;
  /** Answers 202, and sends a NOTIFY with `100 Trying`. */
  accept(): void;
  /** @param why one sentence for a Warning header; absent: none */
  refuse(status: number, reason: string, why?: string): void;
  /** Sends a NOTIFY with this status line as message/sipfrag; a final one ends the subscription. */
  notify(status: number, reason: string): void;
  /** `expired` is called once if the subscription ends with 503 because no outcome was reported in time. */
  onExpiry(expired: () => void): void;
}

/** A REFER that we send. */
export interface ReferOrder {
  /** URI of Refer-To, with its header part where there is one. */
  readonly target: string;
}

/** Events of our REFER: `accepted` at most once, `progress` any number of times, then one of the last two. */
export interface ReferEvents {
  /** 202, or another 2xx. */
  accepted(): void;
  /** A NOTIFY with a provisional status line. */
  progress(status: number, reason: string): void;
  /** The final status line of a NOTIFY. */
  done(status: number, reason: string): void;
  /** The REFER was rejected (`status`), or no final status came: time-out, subscription ended, dialog gone (null). */
  failed(status: number | null, reason: string): void;
}
