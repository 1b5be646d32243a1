/** Who answers a thread, as the widget area needs it; app.ts says who that is. */
import type { Db, Json } from '../db/index.ts';

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
  /** The current agent, so that a change of the pathway does not affect open threads */
  readonly agent: Json;
  /** Other data for later answers. */
  readonly facts: Json;
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
  readonly agent: Json;
  readonly facts: Json;
  /** null: nothing was answered yet */
  readonly state: Json | null;
  /** The visitor's text. */
  readonly text: string;
  readonly signal: AbortSignal;
  /** Called with each part while the answer is written, in order. */
  readonly onPart: (part: AnswerPart) => void;
}

export interface Answered {
  /** Replace the parts. */
  readonly messages: readonly string[];
  readonly state: Json;
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
