/** Orders and outcomes of transfers, for agents and the API. */

export interface TransferOrder {
  /** E.164 number, extension, or SIP URI. */
  readonly target: string;
  readonly method: 'bridge' | 'refer';
  /** Warm transfer: what happens with the target before the peer is bridged; null: bridged at once. */
  readonly consult: ConsultOrder | null;
}

/** The announcement and accept key for the target of a warm transfer. */
export interface ConsultOrder {
  /** Spoken to the target; null: nothing is said. */
  readonly announcement: string | null;
  /** `0`..`9`, `*` or `#`, with which the target accepts the call; null: bridged after the announcement. */
  readonly acceptKey: string | null;
}

export type TransferOutcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: TransferFailure;
      /** Final status from the target, or from the peer of a REFER; null when there was none. */
      readonly sipCode: number | null;
      /** One sentence for a person. */
      readonly reason: string;
    };

export type TransferFailure =
  /** The call is not in progress, or another transfer of it is under way. */
  | 'not_active'
  | 'no_route'
  | 'refer_not_supported'
  | 'target_not_allowed'
  /** busy, no answer, refused, unreachable: `reason` says which */
  | 'target_failed'
  /** The target of a warm transfer did not accept the call. */
  | 'declined'
  /** There is no parked call: it has ended, or nobody parked it. */
  | 'not_parked'
  /** A conference has all parties, or no other one may be opened. */
  | 'full'
  /** The media of a parked call and of the one that retrieves it is in two places. */
  | 'apart';
