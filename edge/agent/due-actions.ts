import type { Action, ConversationEvent, Talk } from '#shared/agent/conversation.ts';

/** An action, and the length of the conversation's log when it was issued: later lines happened later. */
export interface Due {
  readonly action: Action;
  readonly lines: number;
}

/** The conversation's actions for an event, as they are made. */
export async function* dueActions(
  talk: Talk,
  event: ConversationEvent,
  interrupt: AbortSignal,
): AsyncGenerator<Due> {
  const actions = talk.actions?.(event, interrupt) ?? (await talk.step(event));
  for await (const action of actions) yield { action, lines: talk.log.length };
}
