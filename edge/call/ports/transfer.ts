/** What agents and the API ask when they hand a call over, and what they are told. */

export interface TransferOrder {
  /** E.164 number, extension, or SIP URI. */
  readonly target: string;
  readonly method: 'bridge' | 'refer';
  /** Warm transfer: what happens between us and the target before the peer is joined; null: it is joined at once. */
  readonly consult: ConsultOrder | null;
}

/** What the target of a warm transfer is told and asked. */
export interface ConsultOrder {
  /** Spoken to the target; null: nothing is said. */
  readonly announcement: string | null;
  /** `0`..`9`, `*` or `#`, by which the target takes the call; null: it is joined after the announcement. */
  readonly acceptKey: string | null;
}

export type TransferOutcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: TransferFailure;
      /** The final status that the target, or the peer of a REFER, gave; null when none came. */
      readonly sipCode: number | null;
      /** One sentence for a person. */
      readonly reason: string;
    };

export type TransferFailure =
  /** The call is not in progress, or a transfer of it is under way already. */
  | 'not_active'
  | 'no_route'
  | 'refer_not_supported'
  | 'target_not_allowed'
  /** busy, no answer, refused, unreachable: `reason` says which */
  | 'target_failed'
  /** The target of a warm transfer did not take the call. */
  | 'declined';
