/** What one transfer does, and what all of them share. */
import type { NewId } from '#shared/ids.ts';
import type { OutboundPlan } from '../call-plan.ts';
import type { Termination } from '../ending.ts';
import type { LiveCall } from '../live-call.ts';
import type { Agents } from '../ports/agents.ts';
import type { Media } from '../ports/media.ts';
import type { ParkOrder } from '../ports/park.ts';
import type { PeerRefer } from '../ports/refer.ts';
import type { HeadersOf, Routes } from '../ports/routes.ts';
import type { DialogLeg } from '../ports/signaling.ts';
import type { ConsultOrder, TransferOutcome } from '../ports/transfer.ts';

/**
 * `bridge` and `refer` are ordered by the agent or the API. `follow`: a REFER from the peer; the agent continues with
 * the target. `fallback`: the target takes the call because the agent cannot.
 */
export type TransferKind = 'bridge' | 'refer' | 'follow' | 'fallback';

export interface TransferPlan {
  readonly kind: TransferKind;
  /** E.164, an extension, or a SIP URI. */
  readonly target: string;
  readonly consult: ConsultOrder | null;
  /** The peer's REFER. */
  readonly refer?: PeerRefer;
}

/** A call that the peer makes at our request. */
export interface TransferCandidate {
  readonly callId: string;
  readonly orgId: string;
  /** The attached number. */
  readonly from: string;
  readonly to: string;
}

/** @param legId the call to the target, where there was one */
export type TransferWatch = (outcome: TransferOutcome, legId: string | null) => void;

/** What all transfers need. */
export interface TransferParts {
  readonly routes: Routes;
  readonly media: Media;
  readonly agents: Agents;
  readonly newId: NewId;
  /** Whether a peer's REFER is followed at all. */
  readonly followRefer: boolean;
  /** Counts the call that our REFER causes. Returns the termination when a limit forbids it; a promise: control is asked. */
  admit(call: TransferCandidate): Termination | null | Promise<Termination | null>;
  /** Releases an admitted REFER whose outcome is known. */
  /** @param sent whether a REFER was sent */
  release(callId: string, sent: boolean): void;
  /** A live call. */
  find(callId: string): LiveCall | null;
  /** The organization's call with this dialog. */
  callOf(dialog: DialogLeg, orgId: string): LiveCall | null;
  /** The agent of another call goes on with it: for its supervisors. */
  agentChanged(call: LiveCall): void;
  /** Places an outbound leg, or ends it at once. */
  place(plan: OutboundPlan): LiveCall;
  /** Carries out a transfer to a place on this edge: the slot of a parked call, or a conference. Never rejects. */
  enter(place: string, call: LiveCall, by: 'agent' | 'api'): Promise<TransferOutcome>;
  /** Parks a call again, where its slot is still free. */
  repark(call: LiveCall, order: ParkOrder): void;
  readonly headersOf: HeadersOf;
  /** Called once for every transfer, when it begins. @returns what is called once with its outcome */
  watch(kind: TransferKind, call: Pick<LiveCall, 'id' | 'plan'>): TransferWatch;
}
