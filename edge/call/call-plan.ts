/** Which organization and number a call belongs to, and which agent handles it. */
import type { AgentSettings, CallVariables } from '#shared/edge-protocol/agents.ts';
import type { VoicemailOrder } from './ports/agents.ts';
import type { TargetEvents, TargetPlan } from './transfer/target-plan.ts';

/** Decided when the INVITE is admitted, or by the command to place a call. */
export interface CallPlan {
  readonly orgId: string;
  /** The configured number, E.164 with plus. */
  readonly number: string;
  /** The configuration that the call uses; of an outbound call, that of its current attempt. */
  readonly trunkId: string | null;
  /** null: no agent is configured for this number. */
  readonly agent: AgentSettings | null;
  /** Whom the caller is joined with over a trunk of the number, instead of with an agent. */
  readonly dial?: string;
  /** Of a supervisor: the call that it joins, and whether a tone tells its parties. */
  readonly supervises?: { readonly callId: string; readonly sessionId: string; readonly tone: boolean };
  /** Variables from the INVITE's headers (contract 2.8). */
  readonly variables: CallVariables;
  /** Outbound calls: what to do when voicemail answers. */
  readonly voicemail?: VoicemailOrder;
  /** Legs to a transfer target: the call being transferred. Legs of supervisors: the supervised call. */
  readonly parentId?: string;
  /** The transfer that such a leg belongs to. */
  readonly transfer?: TargetEvents;
  /** When the call must end, overriding `max_duration`, ms of the clock's elapsed time; null: no override. */
  readonly deadline?: number | null;
  /** The test run that both ends of the call belong to. */
  readonly testRunId?: string;
  /** Of a test run: this end is recorded, without an announcement. */
  readonly recordsTest?: boolean;
}

/** Whom to call, and which agent speaks. */
export interface OutboundPlan
  extends Omit<CallPlan, 'trunkId' | 'number' | 'dial' | 'parentId' | 'transfer' | 'deadline'> {
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

/** The plan of an outbound call before its first attempt. */
export function outboundCallPlan(order: OutboundPlan): CallPlan {
  const { leg } = order;
  return {
    ...order,
    number: order.from,
    trunkId: null,
    ...(leg && { parentId: leg.parentId, transfer: leg.events, deadline: leg.deadline }),
  };
}
