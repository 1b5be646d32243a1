/**
 * The borders of agent testing: what a finished conversation is, what assertions make of it, and who judges what
 * rules cannot. Execution writes records, assertions read them.
 */
import type { Evaluator, Variables } from '#shared/agent/interfaces.ts';
import type { AssertionType, ToneDimension } from '#shared/api/agent-testing/assertions.ts';

/** One line of a conversation; its place in `chat_history` is the turn that evidence names. */
export interface ChatLine {
  /** `user` is the simulated caller. */
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Which exchange it belongs to, from 0: a caller's line and the agent's answer share one. */
  readonly turn: number;
  /** Where a pathway stood when it was said; null for personas and callers. */
  readonly node_id: string | null;
}

/** A webhook that a node called, or would have called if no mock had answered. */
export interface RecordedWebhook {
  readonly node_id: string;
  readonly url: string;
  readonly method: string;
  /** Null: there was no answer. */
  readonly status_code: number | null;
  /** ISO 8601 */
  readonly at: string;
  /** As it was sent; null: none. */
  readonly body: string | null;
  /** The answer's body; null: none. */
  readonly response?: unknown;
  /** Whether a declared mock or a dry run answered, so that nothing left the program. */
  readonly mocked: boolean;
}

export interface RecordedToolCall {
  readonly name: string;
  readonly node_id: string | null;
  readonly input: unknown;
  readonly ok: boolean;
  readonly result: unknown;
  /** ISO 8601 */
  readonly at: string;
  readonly mocked: boolean;
}

/** How a conversation came to its end. */
export interface Ending {
  readonly by: /** a terminal node, or the agent hung up */
    | 'agent'
    | 'caller'
    /** a Transfer Call node */
    | 'transfer'
    | 'max_turns'
    /** a historical conversation, or one that broke off */
    | 'unknown';
  /** One sentence. */
  readonly reason: string;
}

/** A finished conversation: all that assertions may know of it. */
export interface ConversationRecord {
  readonly chat_history: readonly ChatLine[];
  readonly variables: Variables;
  /** Ids in the order of the visits, repeats kept; null where there are no nodes (a persona). */
  readonly nodes_visited: readonly string[] | null;
  /** Names of visited nodes by id, for texts that a person reads. */
  readonly node_names: Readonly<Record<string, string>>;
  readonly webhook_calls: readonly RecordedWebhook[];
  readonly tool_calls: readonly RecordedToolCall[];
  /** The agent's own notes on why it went where it went. */
  readonly log: readonly { readonly at: string; readonly node_id: string | null; readonly message: string }[];
  readonly ending: Ending;
}

/** Words that were really said. */
export interface Evidence {
  /** 0-based index in `chat_history` */
  readonly turn: number;
  readonly quote: string;
}

export type AssertionStatus = 'PASSED' | 'FAILED' | 'INCONCLUSIVE' | 'ERROR';

/** What one rule makes of a record. */
export interface Outcome {
  readonly status: AssertionStatus;
  /** 0..1, unrounded; 0 for INCONCLUSIVE and ERROR */
  readonly score: number;
  readonly reasoning: string;
  readonly evidence: readonly Evidence[];
  /** What was looked at, and what was wanted of it; for a person. */
  readonly target: string | null;
  readonly expected: string | null;
}

/** An outcome together with the assertion that it belongs to (contract 6.3). */
export interface AssertionResult extends Outcome {
  readonly assertion_id: string;
  readonly type: AssertionType;
  readonly name: string | null;
  readonly passed: boolean;
  readonly weight: number;
  readonly is_required: boolean;
}

export interface JudgeQuestion {
  /** What the author wants judged. */
  readonly prompt: string;
  /** `system`: the prompt takes the place of the judge's own instructions (CUSTOM_LLM). */
  readonly place: 'criterion' | 'system';
  readonly output:
    | { readonly type: 'boolean' }
    | { readonly type: 'score' }
    | { readonly type: 'categorical'; readonly categories: readonly string[] };
  /** Null: the deployment's. */
  readonly model: string | null;
  readonly record: ConversationRecord;
  readonly seed: number;
}

/** `value` is of the type that was asked for; a score is 0..1, a category one of those given. */
export type JudgeAnswer =
  | {
      readonly kind: 'verdict';
      readonly value: boolean | number | string;
      readonly reasoning: string;
      /** As the judge claims it; what is not literally there is dropped by whoever asked. */
      readonly evidence: readonly Evidence[];
    }
  /** Nothing usable came of it. */
  | { readonly kind: 'undecided'; readonly reason: string }
  /** The provider failed. */
  | { readonly kind: 'failed'; readonly reason: string };

/** 0..1 by dimension; a dimension that could not be judged is absent. */
export type ToneScores = Partial<Readonly<Record<ToneDimension, number>>>;

export type ToneAnswer =
  | {
      readonly kind: 'verdict';
      readonly scores: ToneScores;
      readonly issues: readonly string[];
      readonly examples: readonly Evidence[];
    }
  | { readonly kind: 'undecided'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** Judges what rules over a record cannot. Never rejects; repeating a question is its own business. */
export interface Judge {
  readonly evaluator: Evaluator;
  verdict(question: JudgeQuestion): Promise<JudgeAnswer>;
  /** All dimensions that can be judged. */
  tone(record: ConversationRecord, seed: number): Promise<ToneAnswer>;
}
