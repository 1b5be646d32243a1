/** Interface between a persona's conversation and the model that speaks for it. `shared/models` implements it. */
import type { Evaluator } from './interfaces.ts';

export interface ToolCall {
  /** Ties the call to its result. */
  readonly id: string;
  readonly name: string;
  /** As given by the model: not checked against a schema. */
  readonly input: unknown;
}

/** One message of a dialogue, plain data. */
export type DialogueMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly result: string };

/** A possible meaning of the person's words, for models that match words. */
export interface ToolChoice {
  readonly label: string;
  readonly description: string;
  readonly input: unknown;
}

export interface DialogueTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Empty for a tool whose input only a language model can generate. */
  readonly choices: readonly ToolChoice[];
}

export interface DialogueQuestion {
  /** All rules for the model. */
  readonly system: string;
  /** The author's own words within `system`, for models that only quote. */
  readonly authored: string;
  /** Oldest first; empty: the model speaks first. */
  readonly messages: readonly DialogueMessage[];
  readonly tools: readonly DialogueTool[];
  /** 0..1; null: the model's own */
  readonly temperature: number | null;
  /** Makes answers repeatable on servers that support it. */
  readonly seed?: number;
  readonly signal: AbortSignal;
}

/** Text comes in pieces of any length, in order; tool calls come complete. */
export type DialoguePart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly call: ToolCall };

export interface DialogueModel {
  readonly evaluator: Evaluator;
  /** Rejects when the model cannot be reached, is too slow, or when `signal` is aborted. */
  reply(question: DialogueQuestion): AsyncIterable<DialoguePart>;
}
