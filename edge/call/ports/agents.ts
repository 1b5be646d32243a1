/** What calls need of whoever speaks on them (edge/agent), and what those may ask of their call. */
import type { AgentSettings, CallVariables } from '#shared/edge-protocol/agents.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { AudioEndpoint } from './media.ts';
import type { ConsultOrder, TransferOrder, TransferOutcome } from './transfer.ts';

/** What an agent may know of its call. */
export interface CallFacts {
  readonly callId: string;
  readonly orgId: string;
  /** The configuration that the call came over or goes out over; null when none is known. */
  readonly trunkId: string | null;
  readonly sipCallId: string;
  readonly direction: 'inbound' | 'outbound';
  /** E.164 with plus where it is one, else the user part as received. */
  readonly from: string;
  readonly to: string;
  /** Variables from header mappings and request_data; names as in contract 2.8 and 9.4. */
  readonly variables: CallVariables;
  /** Of a call of ours: what to do when a mailbox answers; absent or null: nobody looks. */
  readonly voicemail?: VoicemailOrder | null;
}

/** What becomes of a call of ours that a mailbox answers (contract 9.1). */
export interface VoicemailOrder {
  readonly action: 'hangup' | 'leave_message' | 'ignore';
  /** A template; set with `leave_message`. */
  readonly message: string | null;
}

/** What an agent may ask of its call. Everything is allowed at any time; after the end it has no effect. */
export interface AgentHost {
  /** Ends the call. `reason` is for the log. */
  hangup(reason: string): void;
  /** @throws Error when the peer takes no keys */
  sendDtmf(digits: string): Promise<void>;
  /** Whether either side can press keys, as far as is known: before the answer it may be unknown and true. */
  keysPossible(): boolean;
  /** One line of the conversation, reported as it happens. */
  transcript(entry: TranscriptEntry): void;
  /** The variables that the agent has extracted so far; replaces those of an earlier call of this function. */
  variables(values: CallVariables): void;
  /**
   * Hands the peer over to somebody else (contract section 4). Resolves when it is known whether that worked: after
   * `ok` the agent's part is over and it is closed, else the call goes on as before. Never rejects.
   */
  transfer(order: TransferOrder): Promise<TransferOutcome>;
  /** Of an agent that speaks to the target of a transfer: the waiting call may be joined now. */
  join(): void;
  /** Who seems to have answered a call of ours (contract 9.2); the last word stands. */
  answeredBy(who: 'human' | 'voicemail' | 'unknown'): void;
  /** The agent can go on no more; the call ends with `agent_failed`. */
  fail(error: Error): void;
}

/** How an agent speaks. */
export type Manner = Pick<AgentSettings, 'voice' | 'language'>;

/** The agent side of a call. */
export interface AgentLeg extends AudioEndpoint {
  /** Gets ready before the call is answered. Rejects when the agent cannot take the call: answered 480. */
  prepare(): Promise<void>;
  /** The call is answered: frames flow from now on. */
  start(): void;
  /** The call is over; releases everything. Safe to call twice. */
  close(reason: string): void;
}

export interface Agents {
  create(settings: AgentSettings, call: CallFacts, host: AgentHost): AgentLeg;
  /**
   * Who speaks to the target of a transfer: says the announcement, waits for the key, then `host.join` or `hangup`.
   * @param manner of the agent of the call that is transferred; absent: the edge's voice, English
   */
  consult(order: ConsultOrder, call: CallFacts, host: AgentHost, manner?: Manner): AgentLeg;
  /** What the peer hears while the target of a transfer is called. */
  waiting(): AudioEndpoint;
}
