/** What calls need from signaling (edge/signaling): dialogs and inbound INVITEs. */
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { TerminationCode } from '#shared/termination.ts';
import type { DtmfEvent, Soon } from './media.ts';
import type { PeerRefer, ReferEvents, ReferOrder } from './refer.ts';

/** Facts from the INVITE of a call. */
export interface LegFacts {
  readonly sipCallId: string;
  readonly direction: 'inbound' | 'outbound';
  /** E.164 with plus where it is one, else the user part as received. */
  readonly from: string;
  readonly to: string;
  /** Address of the peer, IPv4-mapped addresses as IPv4. */
  readonly sourceIp: string | null;
  /** SDP of the INVITE; null when it had none (late offer, RFC 3261 section 13.2.1). */
  readonly offer: string | null;
  /** True: a browser with a phone session called over WSS, and may offer WebRTC. All other legs use SDES. */
  readonly browser?: true;
}

/** How an unanswered call is rejected. */
export interface Refusal {
  readonly status: number;
  /** Reason phrase; default: the standard one. */
  readonly reason?: string;
  /** Text of a `Warning: 399` header. */
  readonly warning?: string;
  /** Seconds of a `Retry-After` header. */
  readonly retryAfterS?: number;
  /** Why the call ended, for the report of refused calls. */
  readonly cause?: { readonly code: TerminationCode; readonly detail: string | null };
}

/** Why a dialog ends without BYE or CANCEL from the peer. */
export type LostCode =
  | 'ack_timeout'
  | 'session_expired'
  | 'peer_gone'
  | 'bad_answer'
  | 'connection_lost'
  | 'dialog_lost'
  | 'engine_lost'
  | 'internal_error';

/** Events of a dialog, whichever side sent the INVITE. */
export interface InDialogEvents {
  /**
   * BYE from the peer. The 200 is sent when this returns or resolves, so the record must be stored by then.
   * @param variables from its headers (contract 2.8)
   */
  bye(variables?: CallVariables): Soon<undefined>;
  /** A key press by SIP INFO. */
  pressed(key: DtmfEvent): void;
  /**
   * The dialog is gone or must end, without a BYE from the peer.
   * @param sipStatus with which the engine itself rejected the INVITE; absent: it did not, or the status is unknown
   */
  lost(code: LostCode, detail: string, sipStatus?: number): void;
  /** The peer's offer in a re-INVITE or UPDATE. @throws CallRefused: the session stays unchanged */
  reanswer(offer: string): Promise<string>;
  /** The session description that is offered in our re-INVITE, or in answer to an empty one. @throws CallRefused: not now */
  reoffer(): Promise<string>;
  /** The peer's answer to the SDP from `reoffer`. @throws CallRefused when it is unusable */
  reaccept(answer: string): Promise<void>;
  /** The SDP from `reoffer` gets no answer: the peer rejected it, left it out, or was not reached. */
  withdrawn?(): void;
  /**
   * REFER from the peer (RFC 3515), to be accepted or rejected at once.
   * @param replaced the answered dialog of this edge that its target names in Replaces, and that the peer may replace;
   * absent, null: there is none
   */
  referred(refer: PeerRefer, replaced?: DialogLeg | null): void;
  /** Signaling rejected a REFER from the peer as malformed or unsupported. */
  referRefused?(target: string, reason: string): void;
  /**
   * An INVITE that replaces this dialog (RFC 3891) arrived from a source that may call the number. The call continues
   * on `leg` and ends the current dialog, or rejects the INVITE. Only for answered dialogs.
   */
  replacedBy(leg: CallLeg): void;
}

/**
 * Events of an inbound leg, in wire order. None before `listen`, and none after `bye`, `canceled`, `lost`, `reject` or our own
 * `bye()`.
 */
export interface LegEvents extends InDialogEvents {
  /** The 200 was sent. */
  answered(): void;
  /** The first ACK arrived; `sdp` is its body, the peer's answer when the offer was ours. */
  acknowledged(sdp: string | null): void;
  /** CANCEL before the answer. Signaling has already confirmed it. */
  canceled(): void;
}

/** Identifies a dialog to a third party in a Replaces header (RFC 3891) and Refer-To. */
export interface DialogIdentity {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  /** The peer's Contact URI. */
  readonly remoteTarget: string;
}

/** What a BYE of ours has besides its usual headers. */
export interface ByeExtras {
  /** ITU-T Q.850 cause, as a second value of Reason. */
  readonly q850?: number;
  /** Name to value, valid by shared/custom-headers.ts. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What happens when the peer rejects an offer or gives no answer to it: the dialog is lost, or its session stays as it was. */
export type OfferNeed = 'required' | 'wanted';

/** Operations on an answered dialog, in both directions. */
export interface DialogLeg {
  /** Whether the peer supports REFER: its Allow lists it, or is missing. */
  readonly takesRefer: boolean;
  /** Whether the peer says that it uses SIP INFO: its Allow lists it. */
  readonly takesInfo: boolean;
  /** null before the answer. */
  readonly dialog: DialogIdentity | null;
  /** Asks the peer to call somebody else. */
  refer(order: ReferOrder, events: ReferEvents): void;
  /**
   * Probes whether the peer still has the dialog. `answered` is called once: with a sentence saying why the peer is
   * gone, or null when it is there or the result is unclear. Not called when the dialog ends first.
   */
  ask(answered: (gone: string | null) => void): void;
  /**
   * Sends a re-INVITE with the offer from `reoffer`, as soon as no other exchange is pending; the answer arrives in
   * `reaccept`.
   */
  renegotiate(need: OfferNeed): void;
  /**
   * Ends an answered call with BYE.
   * @param reason goes into a Reason header (RFC 3326)
   */
  bye(reason: string, extras?: ByeExtras): void;
}

/** The signaling side of one call. Functions may be called in any state; late calls do nothing. */
export interface CallLeg extends DialogLeg {
  readonly facts: LegFacts;
  /** Whether a 180 may be sent now: not when a reliable one would have to carry an offer (RFC 3262 section 5). */
  readonly canRing: boolean;
  listen(events: LegEvents): void;
  /** Sends 180. */
  ring(): void;
  /** Sends 200 with an answer, or with our offer when the INVITE had none. */
  answer(sdp: string): void;
  /** Sends a final rejection instead of an answer. */
  reject(refusal: Refusal): void;
}
