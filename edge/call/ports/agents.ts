/** What calls need from agents (edge/agent), and what agents may ask of their call. */
import type { Answerer } from '#shared/answerer.ts';
import type { CodecName } from '#shared/codecs.ts';
import type { AgentSettings, CallVariables } from '#shared/edge-protocol/agents.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { TurnEvent } from '#shared/edge-protocol/turn-events.ts';
import type { AudioEndpoint } from './media.ts';
import type { ByeExtras } from './signaling.ts';
import type { ConsultOrder, TransferOrder, TransferOutcome } from './transfer.ts';

/** What an agent may know about its call. */
export interface CallFacts {
  readonly callId: string;
  readonly orgId: string;
  /** The configuration that the call uses, inbound or outbound; null when none is known. */
  readonly trunkId: string | null;
  readonly sipCallId: string;
  readonly direction: 'inbound' | 'outbound';
  /** E.164 with plus where it is one, else the user part as received. */
  readonly from: string;
  readonly to: string;
  /** Variables from header mappings and request_data; names as in contract 2.8 and 9.4. */
  readonly variables: CallVariables;
  /** The call whose transfer this call belongs to. */
  readonly parentId?: string;
  /** Outbound calls: what to do when voicemail answers; absent or null: no detection. */
  readonly voicemail?: VoicemailOrder | null;
  /**
   * Of the peer's audio when the agent is made: negotiated on inbound calls with an offer, on outbound ones what is
   * offered first. The peer may choose another.
   */
  readonly codec?: CodecName | null;
}

/** What to do with an outbound call answered by voicemail (contract 9.1). */
export interface VoicemailOrder {
  readonly action: 'hangup' | 'leave_message' | 'ignore';
  /** A template; set for `leave_message`. */
  readonly message: string | null;
}

/** Something that happens in a turn of the agent's conversation. */
export interface AgentMark {
  /** The agent counts them from 0. */
  readonly turn: number;
  readonly what: TurnEvent;
  /** ms of the clock's elapsed time. */
  readonly at: number;
}

/** What an agent may ask of its call. Allowed at any time; no effect after the end. */
export interface AgentHost {
  /** Ends the call. `reason` is for the log and the Reason header. */
  hangup(reason: string, extras?: ByeExtras): void;
  /** @throws Error when the peer does not support keys */
  sendDtmf(digits: string): Promise<void>;
  /** Whether the peer can send keys, or receive them. Before the answer this may be unknown and true. */
  keysPossible(): boolean;
  /** Lines of the conversation, reported immediately. */
  transcript(...entries: TranscriptEntry[]): void;
  /** So many lines were left out on the way, because there were too many. */
  linesLeftOut?(count: number): void;
  /** Something happens in a turn. */
  mark?(mark: AgentMark): void;
  /** All variables the agent has extracted so far; replaces those of the previous call. */
  variables(values: CallVariables): void;
  /**
   * Transfers the peer (contract section 4). Resolves with the outcome: after `ok` the agent is closed, otherwise the
   * call continues as before. Never rejects.
   */
  transfer(order: TransferOrder): Promise<TransferOutcome>;
  /** Pauses or resumes the call's recording. @returns false when the call is not recorded */
  recording?(step: 'pause' | 'resume'): boolean;
  /** Whether the call is recorded, or will be: `recording` has an effect. */
  recorded?(): boolean;
  /** The agent that speaks to a transfer target asks to bridge the waiting call now. */
  join(): void;
  /** Who seems to have answered an outbound call (contract 9.2); the last report wins. */
  answeredBy(who: Answerer): void;
  /** The agent cannot continue; the call ends with `agent_failed`. */
  fail(error: Error): void;
}

/** How an agent speaks. */
export type Manner = Pick<AgentSettings, 'voice' | 'language'>;

/** The agent side of a call. */
export interface AgentLeg extends AudioEndpoint {
  /** Prepares before the call is answered. Rejects when the agent cannot take the call: answered 480. */
  prepare(): Promise<void>;
  /** The call is answered: frames flow from now on. */
  start(): void;
  /**
   * Of an agent with a model: what a supervisor tells it, which the peer does not hear. It heeds it in what it says next.
   * Absent: it takes none.
   */
  readonly instruct?: (text: string) => void;
  /** The call is over; releases everything. Safe to call twice. */
  close(reason: string): void;
  /**
   * Of an agent in another thread: resolves when everything that it said to its host before it was closed has arrived.
   * Never rejects.
   */
  lastWords?(): Promise<void>;
}

/** Whether an agent has a language model, which can be told something. */
export function hasModel({ kind }: Pick<AgentSettings, 'kind'>): boolean {
  return kind === 'pathway' || kind === 'persona' || kind === 'task' || kind === 'realtime';
}

/** Whether the edge's text-to-speech speaks what an agent says. Others bring their sound with them. */
export function speaksText({ kind }: Pick<AgentSettings, 'kind'>): boolean {
  return kind === 'pathway' || kind === 'persona' || kind === 'task' || kind === 'test_caller';
}

export interface Agents {
  create(settings: AgentSettings, call: CallFacts, host: AgentHost): AgentLeg;
  /**
   * The agent that speaks to a transfer target: says the announcement, waits for the key, then `host.join` or `hangup`.
   * @param manner of the transferred call's agent; absent: the edge's voice, English
   */
  consult(order: ConsultOrder, call: CallFacts, host: AgentHost, manner?: Manner): AgentLeg;
  /** Audio for the peer while the transfer target is called. */
  waiting(): AudioEndpoint;
  /** Audio for a peer on hold. */
  music(): AudioEndpoint;
}
