import { isBuiltIn } from './built-in-names.ts';
import type { ConversationState } from './conversation-options.ts';
import type { DialogueMessage } from './dialogue.ts';
import type { Turn, Variables } from './interfaces.ts';

/** State of a persona's conversation: plain data, so that it can be stored and restored. */
export interface PersonaState {
  phase: 'new' | 'listening' | 'transfer' | 'pathway' | 'ended';
  /** As shown to the model: with tool calls and notes. */
  messages: DialogueMessage[];
  /** As shown to people. */
  turns: Turn[];
  learned: Variables;
  input: string;
  /** consecutive silences */
  silences: number;
  /** consecutive model failures that were apologized for */
  failures: number;
  /** of supervisors; absent: none */
  instructions?: string[];
  /** of the transfer in progress */
  pendingCall: { readonly id: string; readonly name: string } | null;
  /** The pathway in which the conversation continues, and its state there. */
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

/** Adds extracted values, but leaves built-in variables unchanged (contract 9.4). Returns the names added. */
export function learn(state: PersonaState, values: Variables): string[] {
  const names = Object.keys(values).filter((name) => !isBuiltIn(name));
  for (const name of names) state.learned[name] = values[name];
  return names;
}

/**
 * The end of a dialogue, limited to so many characters. It starts with words of the person, because servers reject a
 * tool result without its call.
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
