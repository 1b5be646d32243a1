/** What calls need of signaling (edge/signaling): dialogs, and the INVITEs that come in. */
import type { PeerRefer, ReferEvents, ReferOrder } from './refer.ts';

/** What the INVITE of a call told us. */
export interface LegFacts {
  readonly sipCallId: string;
  readonly direction: 'inbound' | 'outbound';
  /** E.164 with plus where it is one, else the user part as received. */
  readonly from: string;
  readonly to: string;
  /** Address of the peer, IPv4-mapped addresses as IPv4. */
  readonly sourceIp: string | null;
  /** SDP of the INVITE; null when it came without (late offer, RFC 3261 section 13.2.1). */
  readonly offer: string | null;
}

/** How a call that was not answered is refused. */
export interface Refusal {
  readonly status: number;
  /** Reason phrase; the standard one when absent. */
  readonly reason?: string;
  /** Text of a `Warning: 399` header. */
  readonly warning?: string;
  /** Seconds of a `Retry-After` header. */
  readonly retryAfterS?: number;
}

/** Why a dialog ends without the peer's BYE or CANCEL. */
export type LostCode =
  | 'ack_timeout'
  | 'session_expired'
  | 'bad_answer'
  | 'connection_lost'
  | 'dialog_lost'
  | 'engine_lost'
  | 'internal_error';

/**
 * What happens on a leg. Calls come in the order of the wire, never before `listen`, and none after `bye`,
 * `canceled`, `lost`, `reject` or our own `bye()`.
 */
export interface LegEvents {
  /** The 200 went out. */
  answered(): void;
  /** The first ACK arrived; `sdp` is its body, the peer's answer when the offer was ours. */
  acknowledged(sdp: string | null): void;
  /** CANCEL before the answer. It is confirmed already. */
  canceled(): void;
  /** BYE of the peer. The 200 goes out when this returns, so the record must be safe by then. */
  bye(): void;
  /**
   * The dialog is gone or must end, without a BYE of the peer.
   * @param sipStatus with which the engine has refused the INVITE by itself; absent: it has not, or has not said
   */
  lost(code: LostCode, detail: string, sipStatus?: number): void;
  /** The peer's offer in a re-INVITE or UPDATE. @throws CallRefused: the session stays as it was */
  reanswer(offer: string): Promise<string>;
  /** The session's present description, as an offer in a re-INVITE of ours or the answer to an empty one. */
  reoffer(): Promise<string>;
  /** The peer's answer to what `reoffer` gave. @throws CallRefused when it is unusable */
  reaccept(answer: string): Promise<void>;
  /** REFER of the peer (RFC 3515), to be accepted or refused at once. */
  referred(refer: PeerRefer): void;
  /** A REFER of the peer was refused, because it is malformed or asks for what is not supported. */
  referRefused?(target: string, reason: string): void;
  /**
   * An INVITE that replaces this dialog (RFC 3891) came from a source that may call the number. The call goes on
   * over `leg` and ends the present dialog, or rejects it. Only for dialogs that are answered.
   */
  replacedBy(leg: CallLeg): void;
}

/** What a Replaces header (RFC 3891) and Refer-To need to name a dialog to somebody else. */
export interface DialogIdentity {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  /** The peer's Contact URI. */
  readonly remoteTarget: string;
}

/** What can be done in an answered dialog, whoever began it. */
export interface DialogLeg {
  /** Whether the peer takes REFER: its Allow lists it, or it sent none. */
  readonly takesRefer: boolean;
  /** null before the answer. */
  readonly dialog: DialogIdentity | null;
  /** Asks the peer to call somebody else. */
  refer(order: ReferOrder, events: ReferEvents): void;
  /**
   * Asks the peer whether it still has the dialog. `answered` is called once: with why the peer is gone, as a sentence
   * for a person, or null when it is there or nobody can tell. Not called when the dialog ends first.
   */
  ask(answered: (gone: string | null) => void): void;
  /** Ends an answered call with BYE; `reason` goes into a Reason header (RFC 3326). */
  bye(reason: string): void;
}

/** The signaling side of one call. Every function may be called in any state; what is too late does nothing. */
export interface CallLeg extends DialogLeg {
  readonly facts: LegFacts;
  /** Whether a 180 may go out now: not when a reliable one would have to carry an offer (RFC 3262 section 5). */
  readonly canRing: boolean;
  listen(events: LegEvents): void;
  /** Sends 180. */
  ring(): void;
  /** Sends 200 with an answer, or with our offer when the INVITE had none. */
  answer(sdp: string): void;
  /** Sends a final refusal instead of an answer. */
  reject(refusal: Refusal): void;
}
