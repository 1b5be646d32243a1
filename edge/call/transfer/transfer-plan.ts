/** What one transfer is to do, and what all of them need. */
import type { NewId } from '#shared/ids.ts';
import type { Termination } from '../ending.ts';
import type { OutboundPlan } from '../outbound-plan.ts';
import type { Agents } from '../ports/agents.ts';
import type { Media } from '../ports/media.ts';
import type { PeerRefer } from '../ports/refer.ts';
import type { HeadersOf, Routes } from '../ports/routes.ts';
import type { ConsultOrder, TransferOutcome } from '../ports/transfer.ts';
import type { TargetLeg } from './target-leg.ts';

/**
 * `bridge` and `refer` are the agent's and the API's. `follow`: the peer's REFER, the agent goes on with the target.
 * `fallback`: the target takes the call because its agent cannot.
 */
export type TransferKind = 'bridge' | 'refer' | 'follow' | 'fallback';

export interface TransferPlan {
  readonly kind: TransferKind;
  /** E.164, an extension, or a SIP URI. */
  readonly target: string;
  readonly consult: ConsultOrder | null;
  /** The REFER that is followed. */
  readonly refer?: PeerRefer;
}

/** A call that somebody else makes because we ask for it. */
export interface TransferCandidate {
  readonly callId: string;
  readonly orgId: string;
  /** The attached number. */
  readonly from: string;
  readonly to: string;
}

/** What all transfers need. */
export interface TransferParts {
  readonly routes: Routes;
  readonly media: Media;
  readonly agents: Agents;
  readonly newId: NewId;
  /** Whether a peer's REFER is obeyed at all. */
  readonly followRefer: boolean;
  /** Counts what a REFER of ours makes the peer call, unless a limit forbids it: what it then ends with. */
  admit(call: TransferCandidate): Termination | null;
  /** A REFER of ours that was admitted is decided. */
  /** @param sent whether a REFER left */
  release(callId: string, sent: boolean): void;
  /** Places a leg of ours, or lets it end at once. */
  place(plan: OutboundPlan): TargetLeg;
  readonly headersOf: HeadersOf;
  /** Called once for every transfer that is decided. */
  decided(kind: TransferKind, outcome: TransferOutcome): void;
}
