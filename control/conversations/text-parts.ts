/** The parts of text conversations, and the state kept between two messages. */
import type { WebhookRequest, WebhookResult } from '#shared/agent/conversation.ts';
import type { ConversationState } from '#shared/agent/conversation-options.ts';
import type { DialogueModel } from '#shared/agent/dialogue.ts';
import type { ToolRunner, Understanding, Variables } from '#shared/agent/interfaces.ts';
import type { PersonaState } from '#shared/agent/persona-state.ts';
import type { Clock } from '#shared/clock.ts';
import type { AgentTool } from '#shared/edge-protocol/agents.ts';

export interface TextSessionParts {
  /** `services.models.agent({ onFailure: 'reject' })`, or a test's own. */
  readonly models: { readonly understanding: Understanding; readonly dialogue: DialogueModel };
  /** Never rejects: errors are in the result. */
  readonly webhook: (request: WebhookRequest, nodeId: string) => Promise<WebhookResult>;
  /** null: no agent has tools */
  readonly tools: TextTools | null;
  readonly clock: Pick<Clock, 'now'>;
  /** Makes answers repeatable, as far as the models support it. */
  readonly seed?: number;
  /** Aborted when the conversation is ended from outside. */
  readonly signal?: AbortSignal;
}

/** Gives an agent its tools. */
export type TextTools = (given: readonly AgentTool[], conversation: ToolConversation) => ToolRunner;

export interface ToolConversation {
  readonly orgId: string;
  readonly conversationId: string;
  readonly source: 'chat' | 'widget' | 'test';
}

/** Facts about a conversation for its agent. */
export interface TextFacts {
  /** The variable `call_id`. */
  readonly id: string;
  /** From request_data; names of built-in variables are ignored (contract 9.4). */
  readonly variables: Variables;
  /** The source in the tool log. Default: chat */
  readonly source?: ToolConversation['source'];
  /** IANA zone; default: the one of contract 9.1 */
  readonly timezone?: string;
  readonly from?: string;
  readonly to?: string;
}

/** The state of a conversation: plain data. */
export interface TextState {
  readonly talk:
    | { readonly kind: 'pathway'; readonly state: ConversationState }
    | { readonly kind: 'persona'; readonly state: PersonaState };
  readonly node: TextNode | null;
  readonly completed: boolean;
}

export interface TextNode {
  readonly id: string;
  readonly name: string;
}
