/** Who answers a thread, as the widget area needs it; app.ts says who that is. */
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
  /** JSON: who answers, as it is now, so that a change of the pathway alters no open thread */
  readonly agent: string;
  /** JSON: what else later answers need */
  readonly facts: string;
  /** The first message of the thread; null when there is none. */
  readonly opening: string | null;
}

/** A part of an answer that is being made. */
export interface AnswerPart {
  /** Which message of the answer it belongs to, from 0. */
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
  /** What the visitor wrote. */
  readonly text: string;
  readonly signal: AbortSignal;
  /** Called with each part while the answer is being made, in order. */
  readonly onPart: (part: AnswerPart) => void;
}

export interface Answered {
  /** Stand for what the parts told. */
  readonly messages: readonly string[];
  /** JSON */
  readonly state: string;
  /** Whether the agent reached its end. */
  readonly ended: boolean;
}

export interface ThreadAgent {
  /**
   * Freezes who will answer. Asks no model and no other server.
   * @throws ApiError PATHWAY_NOT_FOUND, VERSION_NOT_FOUND, PERSONA_NOT_FOUND
   */
  begin(db: Db, conversation: NewConversation): Promise<BegunConversation>;
  /** Rejects when the model fails, or with the reason of `signal`. */
  answer(request: AnswerRequest): Promise<Answered>;
}
