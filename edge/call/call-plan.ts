import type { AgentSettings, CallVariables } from '#shared/edge-protocol/agents.ts';
import type { VoicemailOrder } from './ports/agents.ts';
import type { TargetEvents } from './transfer/target-events.ts';

/** Whose call it is and who shall answer it; decided when the INVITE is admitted. */
export interface CallPlan {
  readonly orgId: string;
  /** The configured number, E.164 with plus. */
  readonly number: string;
  readonly trunkId: string | null;
  /** null: nobody answers this number. */
  readonly agent: AgentSettings | null;
  /** Variables from the INVITE's headers (contract 2.8). */
  readonly variables: CallVariables;
  /** Of a call of ours: what to do when a mailbox answers. */
  readonly voicemail?: VoicemailOrder;
  /** Of a leg to the target of a transfer: the call that is transferred. */
  readonly parentId?: string;
  /** The transfer that such a leg belongs to. */
  readonly transfer?: TargetEvents;
  /** When the call must end instead of `max_duration` after its answer, ms of the clock's elapsed time; null: not instead. */
  readonly deadline?: number | null;
  /** The test run that both ends of the call belong to. */
  readonly testRunId?: string;
}
