/** What one outbound call needs, and what all of them share. */
import type { CallPlan } from './call-plan.ts';
import type { Dialer } from './ports/dialing.ts';
import type { HeadersOf, Routes } from './ports/routes.ts';
import type { TargetPlan } from './transfer/target-leg.ts';

/** Whom to call, and which agent speaks. */
export interface OutboundPlan
  extends Omit<CallPlan, 'trunkId' | 'number' | 'parentId' | 'transfer' | 'deadline'> {
  /** Id of the call, already known to the requester. */
  readonly callId: string;
  /** The attached number that places the call, E.164 with plus. */
  readonly from: string;
  /** E.164 with plus, an extension, or a SIP URI. */
  readonly to: string;
  /** Keys to send right after the answer, before the agent speaks; `w` waits half a second. */
  readonly precallDtmf?: string | null;
  /** For a leg to a transfer target. */
  readonly leg?: TargetPlan;
}

export interface OutboundParts {
  readonly routes: Routes;
  readonly dialer: Dialer;
  /** Time for one attempt without an answer before it is canceled, ms. */
  readonly ringTimeoutMs: number;
  /** Whether a peer's REFER is followed; default: true. */
  readonly followRefer?: boolean;
  /** Applies header mappings to variables for the Refer-To of a REFER; absent: no headers. */
  readonly headersOf?: HeadersOf;
}
