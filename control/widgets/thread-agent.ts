/** The interface of a thread's agent for the widget area; app.ts provides it. */
import type { Db } from '../db/index.ts';

/** Exactly one of pathway and persona. */
export interface AgentSource {
  readonly orgId: string;
  readonly pathwayId: string | null;
  /** An integer, `production` or `staging`, as text. */
  readonly pathwayVersion: string | null;
  readonly personaId: string | null;
}

export interface NewConversation {
  readonly threadId: string;
  readonly source: AgentSource;
  /** null: the agent's own first words, where they are fixed */
  readonly greeting: string | null;
  /** `request_data` of the thread */
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface BegunConversation {
  /** JSON: the current agent, so that a change of the pathway does not affect open threads */
  readonly agent: string;
  /** JSON: other data for later answers */
  readonly facts: string;
  /** The first message of the thread; null if there is none. */
  readonly opening: string | null;
}

/** A part of an unfinished answer. */
export interface AnswerPart {
  /** Index of its message in the answer, from 0. */
  readonly message: number;
  readonly text: string;
}

export interface AnswerRequest {
  readonly orgId: string;
  readonly threadId: string;
  readonly agent: string;
  readonly facts: string;
  /** null: nothing was answered yet */
  readonly state: string | null;
  /** The visitor's text. */
  readonly text: string;
  readonly signal: AbortSignal;
  /** Called with each part while the answer is written, in order. */
  readonly onPart: (part: AnswerPart) => void;
}

export interface Answered {
  /** Replace the parts. */
  readonly messages: readonly string[];
  /** JSON */
  readonly state: string;
  /** Whether the agent reached its end. */
  readonly ended: boolean;
}

export interface ThreadAgent {
  /**
   * Freezes the agent. Calls no model and no other server.
   * @throws ApiError PATHWAY_NOT_FOUND, VERSION_NOT_FOUND, PERSONA_NOT_FOUND
   */
  begin(db: Db, conversation: NewConversation): Promise<BegunConversation>;
  /** Rejects when the model fails, or with the reason of `signal`. */
  answer(request: AnswerRequest): Promise<Answered>;
}
