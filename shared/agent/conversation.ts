/** What goes into a conversation and what comes out of it: the same for calls, chats and test runs. */
import type { ToolResult, Turn, Variables } from './interfaces.ts';
import type { KeyPlan } from './keys.ts';

export interface WebhookRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** null: no body */
  readonly body: string | null;
  readonly timeoutMs: number;
}

export interface WebhookResult {
  /** HTTP status, null when there was no answer */
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
  /** The person did nothing for the time of `listen`. */
  | { readonly type: 'silence' }
  | { readonly type: 'webhook'; readonly result: WebhookResult }
  | { readonly type: 'tool'; readonly result: ToolResult }
  | { readonly type: 'transfer'; readonly ok: boolean; readonly reason: string };

interface AtNode {
  /** Empty where a persona or a task speaks: these have no nodes. */
  readonly nodeId: string;
  readonly nodeName: string;
}

/** To be carried out in order. After `listen`, `webhook`, `tool` and `transfer` the conversation waits for its event. */
export type Action =
  | ({
      readonly type: 'say';
      readonly text: string;
      /** The words ask for keys, or lead to asking; absent: words will do. */
      readonly keysExpected?: boolean;
    } & AtNode)
  | ({
      readonly type: 'listen';
      readonly keys: KeyPlan;
      /** The person was asked for keys; absent: words will do. */
      readonly keysExpected?: boolean;
      /** ms after the last word was said until `silence` is due */
      readonly timeoutMs: number;
      readonly interruptionThreshold: number | null;
    } & AtNode)
  | ({ readonly type: 'press'; readonly digits: string } & AtNode)
  | ({ readonly type: 'webhook'; readonly request: WebhookRequest } & AtNode)
  /** What was said before it is heard while the tool runs. */
  | ({
      readonly type: 'tool';
      readonly toolId: string;
      readonly name: string;
      readonly inputs: Variables;
      /** What the tool's templates can name. */
      readonly variables: Variables;
    } & AtNode)
  | ({
      readonly type: 'transfer';
      /** Filled from its template; empty when that names nothing. */
      readonly target: string;
      readonly method: 'bridge' | 'refer';
      /** Warm transfer: spoken to the target first; null: nothing is said. */
      readonly announcement: string | null;
      /** Warm transfer: key by which the target takes the call; null: none is asked for. */
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
  readonly message: string;
}

/** One webhook that was called (contract 6.4 `webhook_calls`). */
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
  /** Takes one event; resolves with all that is to be carried out. */
  step(event: ConversationEvent): Promise<readonly Action[]>;
  /**
   * The same, with each action as soon as it is known; for whoever speaks sentences while the next are being made.
   * @param interrupt stops what is being made up: the rest of the actions is `listen`
   */
  actions?(event: ConversationEvent, interrupt: AbortSignal): AsyncIterable<Action>;
}
