import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { CallAgent } from '../call-agent.ts';
import type { CallLedger } from '../call-ledger.ts';
import type { CallPlan } from '../call-plan.ts';
import type { Termination } from '../ending.ts';
import type { Log } from '../log.ts';
import type { MediaLeg } from '../ports/media.ts';
import type { DialogLeg, LegFacts } from '../ports/signaling.ts';

/** A call, as far as a transfer needs it: the transferred call, or the leg to its target. */
export interface TransferredCall {
  readonly id: string;
  readonly log: Log;
  readonly plan: CallPlan;
  readonly facts: LegFacts;
  readonly agent: CallAgent;
  readonly ledger: CallLedger;
  readonly media: MediaLeg | null;
  /** The dialog as it is now; null before there is one. */
  readonly leg: DialogLeg | null;
  /** The call's own transfers. */
  readonly transfers: { free(): void };
  readonly answered: boolean;
  /** Whether agent and peer can hear each other. */
  readonly up: boolean;
  /** Whether the peer was transferred and is about to hang up. */
  readonly leaving: boolean;
  /** When the maximum duration expires, ms since the epoch; null before the answer, or without one. */
  readonly deadline: number | null;
  /** Why the call ended; null while it is live. */
  readonly termination: Termination | null;
  /** Variables of the call. Header variables override request_data; variables the agent extracted override both. */
  readonly variables: CallVariables;
  /** Variables that header mappings may use. */
  mappable(): CallVariables;
  /** Answers an unanswered call. */
  answer(): void;
  /** Records the target that the peer was transferred to. */
  handedOver(target: string): void;
  /** Moves the agent, with its state, to the peer of `other`. */
  moveAgentTo(other: TransferredCall): void;
  /** Ends the call as transferred: the peer sends BYE, or we do shortly after. */
  leaveToPeer(): void;
  end(termination: Termination): void;
  /** Runs an event handler; a bug in it ends only this call. */
  guarded(work: () => void): void;
}
