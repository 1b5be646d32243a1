/** Input and output of a conversation: the same for calls, chats and test runs. */
import type { Pronunciation } from '../pronunciation-entry.ts';
import type { RecordingStep } from './graph-node.ts';
import type { SaidText } from './heard-words.ts';
import type { ToolResult, Turn, Variables } from './interfaces.ts';
import type { KeyPlan } from './keys.ts';
import type { LogFact } from './log-facts.ts';
import type { RealtimeOrder, RealtimeResult } from './realtime-order.ts';
import type { TurnPlan } from './turn-plan.ts';

export interface WebhookRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** null: no body */
  readonly body: string | null;
  readonly timeoutMs: number;
}

export interface WebhookResult {
  /** HTTP status, null without a response */
  readonly status: number | null;
  /** parsed when it was JSON, else the text */
  readonly body: unknown;
  /** why there was no usable answer */
  readonly error: string | null;
}

export type ConversationEvent =
  | { readonly type: 'start' }
  /** The person spoke or typed. */
  | { readonly type: 'heard'; readonly text: string }
  /** One complete entry of keys, without its terminator. */
  | { readonly type: 'keys'; readonly keys: string }
  /** The person did nothing for the time-out of `listen`. */
  | { readonly type: 'silence' }
  | { readonly type: 'webhook'; readonly result: WebhookResult }
  | { readonly type: 'tool'; readonly result: ToolResult }
  | { readonly type: 'realtime'; readonly result: RealtimeResult }
  | { readonly type: 'transfer'; readonly ok: boolean; readonly reason: string };

interface AtNode {
  /** Empty for a persona or a task, which have no nodes. */
  readonly nodeId: string;
  readonly nodeName: string;
}

/** A text, and how a voice says it. */
export interface SpokenText {
  readonly text: string;
  /** How words of it are pronounced, besides the lists of the call. */
  readonly pronunciations?: readonly Pronunciation[];
  /** Whether its numbers are read digit by digit; absent: no. */
  readonly sayDigits?: boolean;
}

/**
 * To be carried out in order. After `listen`, `webhook`, `tool`, `realtime` and `transfer` the conversation waits for an
 * event.
 */
export type Action =
  | ({
      readonly type: 'say';
      /** Whether the words ask for keys or lead to that; absent: words are expected. */
      readonly keysExpected?: boolean;
    } & SpokenText &
      AtNode)
  | ({
      readonly type: 'listen';
      readonly keys: KeyPlan;
      /** Whether the person was asked for keys; absent: words are expected. */
      readonly keysExpected?: boolean;
      /** time after the last word before `silence` is due, ms */
      readonly timeoutMs: number;
      readonly interruptionThreshold: number | null;
      readonly turn: TurnPlan;
      /** Texts that may be said next. */
      readonly likely?: readonly SpokenText[];
    } & AtNode)
  | ({ readonly type: 'press'; readonly digits: string } & AtNode)
  /** At once, also while something is said. Without meaning where nothing is recorded. */
  | ({ readonly type: 'recording'; readonly step: RecordingStep } & AtNode)
  | ({
      readonly type: 'webhook';
      readonly request: WebhookRequest;
      /** Said when the answer takes longer than `afterMs`; absent: nothing. */
      readonly filler?: SpokenText & { readonly afterMs: number };
      /** Texts that may be said next. */
      readonly likely?: readonly SpokenText[];
    } & AtNode)
  /** Earlier texts are played while the tool runs. */
  | ({
      readonly type: 'tool';
      readonly toolId: string;
      readonly name: string;
      readonly inputs: Variables;
      /** Variables for the tool's templates. */
      readonly variables: Variables;
    } & AtNode)
  /** A model that hears and speaks takes over; only where `ConversationLimits.realtime` says that there is one. */
  | ({ readonly type: 'realtime'; readonly order: RealtimeOrder } & AtNode)
  | ({
      readonly type: 'transfer';
      /** From its template; empty when the template yields nothing. */
      readonly target: string;
      readonly method: 'bridge' | 'refer';
      /** Warm transfer: spoken to the target first; null: nothing is said. */
      readonly announcement: string | null;
      /** Warm transfer: key with which the target accepts the call; null: not required. */
      readonly acceptKey: string | null;
    } & AtNode)
  | ({ readonly type: 'end'; readonly reason: string } & AtNode);

export interface Visit {
  readonly nodeId: string;
  readonly nodeName: string;
  readonly pathwayId: string;
  /** ms since the epoch */
  readonly at: number;
}

export interface LogLine {
  readonly at: number;
  readonly nodeId: string | null;
  /** For programs; `message` says it to people. */
  readonly fact: LogFact;
  readonly message: string;
}

/** One webhook call (contract 6.4 `webhook_calls`). */
export interface WebhookCall {
  readonly nodeId: string;
  readonly url: string;
  readonly method: string;
  readonly body: string | null;
  readonly statusCode: number | null;
  readonly at: number;
}

/** A conversation of any kind: along a pathway, or free with a persona. */
export interface Talk {
  readonly ended: boolean;
  readonly history: readonly Turn[];
  readonly learned: Variables;
  readonly variables: Variables;
  readonly visits: readonly Visit[];
  readonly log: readonly LogLine[];
  readonly webhookCalls: readonly WebhookCall[];
  /** What the person has heard of the last turn, when that is not all of its words. Not to be called during a step. */
  heard?(said: readonly SaidText[]): void;
  /** A supervisor tells the agent something, which it heeds in what it makes up next. */
  instruct?(text: string): void;
  /** Processes one event; resolves with all actions to carry out. */
  step(event: ConversationEvent): Promise<readonly Action[]>;
  /**
   * The same, but yields each action as soon as it is known, for callers that speak sentences while the next are
   * generated.
   * @param interrupt stops the generation: the remaining action is `listen`
   */
  actions?(event: ConversationEvent, interrupt: AbortSignal): AsyncIterable<Action>;
}
