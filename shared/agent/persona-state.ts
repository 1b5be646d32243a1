import { isBuiltIn } from './built-in-variables.ts';
import type { ConversationState } from './conversation-options.ts';
import type { DialogueMessage } from './dialogue.ts';
import type { Turn, Variables } from './interfaces.ts';

/** Everything that a persona's conversation has come to: plain data, so that it can be stored and taken up again. */
export interface PersonaState {
  phase: 'new' | 'listening' | 'transfer' | 'pathway' | 'ended';
  /** As whoever speaks sees it: with tool calls and notes. */
  messages: DialogueMessage[];
  /** As people see it. */
  turns: Turn[];
  learned: Variables;
  input: string;
  /** times in a row that nothing was heard */
  silences: number;
  /** times in a row that the model failed and was excused */
  failures: number;
  /** of the transfer that is under way */
  pendingCall: { readonly id: string; readonly name: string } | null;
  /** The pathway that the conversation goes on in, and where it stands there. */
  pathway: { readonly id: string; readonly version: number; readonly state: ConversationState } | null;
}

export function newState(): PersonaState {
  return {
    phase: 'new',
    messages: [],
    turns: [],
    learned: {},
    input: '',
    silences: 0,
    failures: 0,
    pendingCall: null,
    pathway: null,
  };
}

/** Adds what was learned; built-in variables stay as they are (contract 9.4). Returns the names that were taken. */
export function learn(state: PersonaState, values: Variables): string[] {
  const names = Object.keys(values).filter((name) => !isBuiltIn(name));
  for (const name of names) state.learned[name] = values[name];
  return names;
}

/**
 * The end of a dialogue that fits into so many characters. It begins with words of the person, because a tool's result
 * without its call is refused by servers.
 */
export function latest(messages: readonly DialogueMessage[], characters: number): readonly DialogueMessage[] {
  let size = 0;
  let from = messages.length;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i];
    if (!message) break;
    size += JSON.stringify(message).length;
    if (size > characters && from < messages.length) break;
    if (message.role === 'user' || i === 0) from = i;
  }
  return messages.slice(from);
}
