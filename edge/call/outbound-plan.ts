/** A call to be made, and what all of them need. */
import type { CallPlan } from './call-plan.ts';
import type { Dialer } from './ports/dialing.ts';
import type { HeadersOf, Routes } from './ports/routes.ts';
import type { TargetPlan } from './transfer/target-leg.ts';

/** What shall be called, and who speaks. */
export interface OutboundPlan
  extends Omit<CallPlan, 'trunkId' | 'number' | 'parentId' | 'transfer' | 'deadline'> {
  /** Id of the call, known to whoever asked for it. */
  readonly callId: string;
  /** The attached number that calls, E.164 with plus. */
  readonly from: string;
  /** E.164 with plus, an extension, or a SIP URI. */
  readonly to: string;
  /** Keys to press right after the answer, before the agent speaks; `w` waits half a second. */
  readonly precallDtmf?: string | null;
  /** Of a leg to the target of a transfer. */
  readonly leg?: TargetPlan;
}

export interface OutboundParts {
  readonly routes: Routes;
  readonly dialer: Dialer;
  /** How long one attempt may ring, or be silent after a 100, before it is given up, in ms. */
  readonly ringTimeoutMs: number;
  /** Whether a peer's REFER is followed; true when absent. */
  readonly followRefer?: boolean;
  /** What header mappings make of variables, for the Refer-To of a REFER; absent: no headers. */
  readonly headersOf?: HeadersOf;
}
