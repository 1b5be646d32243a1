/** What a persona's conversation asks of whatever speaks for it. `shared/models` implements it, by rules or by a model. */
import type { Evaluator } from './interfaces.ts';

export interface ToolCall {
  /** Ties the call to its result. */
  readonly id: string;
  readonly name: string;
  /** As the model gave it: not checked against any schema. */
  readonly input: unknown;
}

/** One message of a dialogue, plain data. */
export type DialogueMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly result: string };

/** Something that words of the person can mean, for models that choose by words. */
export interface ToolChoice {
  readonly label: string;
  readonly description: string;
  readonly input: unknown;
}

export interface DialogueTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Empty for a tool whose input only a language model can make. */
  readonly choices: readonly ToolChoice[];
}

export interface DialogueQuestion {
  /** Everything that the one who speaks must keep to. */
  readonly system: string;
  /** The author's own words within `system`, for models that cannot follow them and only quote. */
  readonly authored: string;
  /** Oldest first; empty: the person waits for the first words. */
  readonly messages: readonly DialogueMessage[];
  readonly tools: readonly DialogueTool[];
  /** 0..1; null: the model's own */
  readonly temperature: number | null;
  /** Whoever knows it gives the same answer to the same question again. */
  readonly seed?: number;
  readonly signal: AbortSignal;
}

/** Text comes in pieces of any length, in order; calls come whole. */
export type DialoguePart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly call: ToolCall };

export interface DialogueModel {
  readonly evaluator: Evaluator;
  /** Rejects when the model cannot be reached, is too slow, or when `signal` is aborted. */
  reply(question: DialogueQuestion): AsyncIterable<DialoguePart>;
}
