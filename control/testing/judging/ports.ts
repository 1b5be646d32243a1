/**
 * The interfaces of agent testing: the finished conversation, the assertions' results, and the judge of what rules
 * cannot decide. Execution writes records, assertions read them.
 */

import type { Evaluator, Variables } from '#shared/agent/interfaces.ts';
import type { LogFact } from '#shared/agent/log-facts.ts';
import type { AssertionType, ToneDimension } from '#shared/api/agent-testing/assertions.ts';
import type { Voice } from '#shared/api/agent-testing/runs.ts';

/** One line of a conversation; its index in `chat_history` is the turn used in evidence. */
export interface ChatLine {
  /** `user` is the simulated caller. */
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Which exchange it belongs to, from 0: a caller's line and the agent's answer share one. */
  readonly turn: number;
  /** The pathway's node when it was said; null for personas and callers. */
  readonly node_id: string | null;
}

/** A webhook that a node called, or would have called without a mock. */
export interface RecordedWebhook {
  readonly node_id: string;
  readonly url: string;
  readonly method: string;
  /** Null: no response. */
  readonly status_code: number | null;
  /** ISO 8601 */
  readonly at: string;
  /** As sent; null: none. */
  readonly body: string | null;
  /** The response body; null: none. */
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

export interface RecordedLogLine {
  /** ISO 8601 */
  readonly at: string;
  readonly node_id: string | null;
  readonly message: string;
  /** Null, or absent in stored runs: an earlier version wrote the line. */
  readonly fact?: LogFact | null;
}

/** How a conversation ended. */
export interface Ending {
  readonly by: /** a terminal node, or the agent hung up */
    | 'agent'
    | 'caller'
    /** a Transfer Call node */
    | 'transfer'
    | 'max_turns'
    /** a historical conversation, or an aborted one */
    | 'unknown';
  /** One sentence. */
  readonly reason: string;
  /** The number or address; set after a transfer. */
  readonly transferred_to?: string;
  /** Of a run over a call that has no result: whether the call was answered. */
  readonly answered?: boolean;
}

/** A finished conversation: everything that assertions may use. */
export interface ConversationRecord {
  /** Of an agent that is not ours: its nodes, variables, webhooks and tools are not known. */
  readonly foreign?: true;
  readonly chat_history: readonly ChatLine[];
  readonly variables: Variables;
  /** Ids in visiting order, with repeats; null without nodes (a persona). */
  readonly nodes_visited: readonly string[] | null;
  /** Names of visited nodes by id, for readable texts. */
  readonly node_names: Readonly<Record<string, string>>;
  readonly webhook_calls: readonly RecordedWebhook[];
  readonly tool_calls: readonly RecordedToolCall[];
  /** The agent's log of its decisions. */
  readonly log: readonly RecordedLogLine[];
  readonly ending: Ending;
  /** What the tested agent was told to do and to know, and when the conversation began, ISO 8601; for who judges. */
  readonly agent?: { readonly instructions: string; readonly beganAt: string };
  /** Of a run over a call: what was measured. */
  readonly voice?: Voice;
  /** Of a run over a call: what the agent said, by turn, and what a transcription server heard of it; null: none did. */
  readonly spoken?: readonly { readonly said: string; readonly heard: string | null }[];
  /** Of a production call: lines as they were played. A value that was cut off in one was heard if another has it. */
  readonly played?: readonly string[];
}

export type AgentPart = 'node' | 'tool' | 'variable';

/** Whether the tested agent could reach a node, use a tool or set a variable; true where that is not known. */
export type CouldHave = (part: AgentPart, name: string) => Promise<boolean>;

/** What a run used of language models. Text: why it is not known. */
export interface Spent {
  tokens(scope: SpentScope): number | string;
  cost(scope: SpentScope): number | string;
}
/** `agent`: the tested agent alone; `run`: caller and judge too. */
export type SpentScope = 'agent' | 'run';

/** Words that were actually said. */
export interface Evidence {
  /** 0-based index in `chat_history` */
  readonly turn: number;
  readonly quote: string;
}

export type AssertionStatus = 'PASSED' | 'FAILED' | 'INCONCLUSIVE' | 'ERROR';

/** The result of one rule on a record. */
export interface Outcome {
  readonly status: AssertionStatus;
  /** 0..1, unrounded; 0 for INCONCLUSIVE and ERROR */
  readonly score: number;
  readonly reasoning: string;
  readonly evidence: readonly Evidence[];
  /** What was checked and what was expected; for readers. */
  readonly target: string | null;
  readonly expected: string | null;
}

/** An outcome with its assertion (contract 6.3). */
export interface AssertionResult extends Outcome {
  readonly assertion_id: string;
  readonly type: AssertionType;
  readonly name: string | null;
  readonly passed: boolean;
  readonly weight: number;
  readonly is_required: boolean;
}

export interface JudgeQuestion {
  /** The author's criterion. */
  readonly prompt: string;
  /** `system`: the prompt replaces the judge's own instructions (CUSTOM_LLM). */
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

/** `value` has the requested type; a score is 0..1, a category one of those given. */
export type JudgeAnswer =
  | {
      readonly kind: 'verdict';
      readonly value: boolean | number | string;
      readonly reasoning: string;
      /** As claimed by the judge; the caller drops what was not literally said. */
      readonly evidence: readonly Evidence[];
    }
  /** No usable answer. */
  | { readonly kind: 'undecided'; readonly reason: string }
  /** The provider failed. */
  | { readonly kind: 'failed'; readonly reason: string };

/** 0..1 by dimension; dimensions that could not be judged are absent. */
export type ToneScores = Partial<Readonly<Record<ToneDimension, number>>>;

export type ToneAnswer =
  | {
      readonly kind: 'verdict';
      readonly scores: ToneScores;
      readonly issues: readonly string[];
      readonly examples: readonly Evidence[];
    }
  /** No model is configured. */
  | { readonly kind: 'without_model'; readonly reason: string }
  | { readonly kind: 'undecided'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** Judges what rules cannot decide from a record. Never rejects, and does its own retries. */
export interface Judge {
  readonly evaluator: Evaluator;
  verdict(question: JudgeQuestion): Promise<JudgeAnswer>;
  /** All dimensions that can be judged. */
  tone(record: ConversationRecord, seed: number): Promise<ToneAnswer>;
}
