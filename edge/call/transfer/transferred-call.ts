import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { CallAgent } from '../call-agent.ts';
import type { CallLedger } from '../call-ledger.ts';
import type { CallPlan } from '../call-plan.ts';
import type { Termination } from '../ending.ts';
import type { Log } from '../log.ts';
import type { MediaLeg } from '../ports/media.ts';
import type { DialogLeg, LegFacts } from '../ports/signaling.ts';

/** A call, as a transfer sees it: the one that is transferred, and the leg to its target. */
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
  /** Of the call itself. */
  readonly transfers: { free(): void };
  readonly answered: boolean;
  /** Whether agent and peer can hear each other. */
  readonly up: boolean;
  /** Whether the peer has been handed over and is about to hang up. */
  readonly leaving: boolean;
  /** When the longest duration is over, ms since the epoch; null before the answer, or without one. */
  readonly deadline: number | null;
  /** Why the call ended, null while it goes on. */
  readonly termination: Termination | null;
  /** What the call has learned: header variables over request_data, the agent's over both. */
  readonly variables: CallVariables;
  /** What header mappings may name. */
  mappable(): CallVariables;
  /** Answers a call that waits for it. */
  answer(): void;
  /** Whom the peer is with from now on. */
  handedOver(target: string): void;
  /** The agent goes on with the peer of `other`, with what it knows. */
  moveAgentTo(other: TransferredCall): void;
  /** Ends the call as transferred, at the peer's BYE or soon by ours. */
  leaveToPeer(): void;
  end(termination: Termination): void;
  /** Runs an event; a bug in it ends this call and no other. */
  guarded(work: () => void): void;
}
