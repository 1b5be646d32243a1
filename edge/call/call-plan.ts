import type { AgentSettings, CallVariables } from '#shared/edge-protocol/agents.ts';
import type { VoicemailOrder } from './ports/agents.ts';
import type { TargetEvents } from './transfer/target-events.ts';

/** Which organization and number a call belongs to, and which agent handles it; decided when the INVITE is admitted. */
export interface CallPlan {
  readonly orgId: string;
  /** The configured number, E.164 with plus. */
  readonly number: string;
  readonly trunkId: string | null;
  /** null: no agent is configured for this number. */
  readonly agent: AgentSettings | null;
  /** Variables from the INVITE's headers (contract 2.8). */
  readonly variables: CallVariables;
  /** Outbound calls: what to do when voicemail answers. */
  readonly voicemail?: VoicemailOrder;
  /** Legs to a transfer target: the call being transferred. */
  readonly parentId?: string;
  /** The transfer that such a leg belongs to. */
  readonly transfer?: TargetEvents;
  /** When the call must end, overriding `max_duration`, ms of the clock's elapsed time; null: no override. */
  readonly deadline?: number | null;
  /** The test run that both ends of the call belong to. */
  readonly testRunId?: string;
}
