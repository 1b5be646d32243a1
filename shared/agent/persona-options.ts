import type { LogLine } from './conversation.ts';
import type { ConversationLimits, ConversationOptions } from './conversation-options.ts';
import type { DialogueModel } from './dialogue.ts';
import type { ToolRunner } from './interfaces.ts';
import type { KeyPlan } from './keys.ts';
import type { PersonaText } from './persona-prompt.ts';
import type { PersonaState } from './persona-state.ts';
import type { PathwayEntry } from './persona-tools.ts';
import { anyTurn } from './turn-plan.ts';

export interface PersonaOptions
  extends Pick<
    ConversationOptions,
    'understanding' | 'variables' | 'builtIns' | 'now' | 'firstSentence' | 'otherPathway'
  > {
  readonly persona: PersonaText;
  readonly model: DialogueModel;
  readonly channel: 'call' | 'chat';
  readonly language: string;
  /** On calls: whether either side can press keys, as far as known; absent: yes. */
  readonly keysPossible?: () => boolean;
  /** 0..1; null: the model's own */
  readonly temperature: number | null;
  readonly seed?: number;
  /** name to target; `default` is the one without a name */
  readonly transfers: Readonly<Record<string, string>>;
  readonly pathways: readonly PathwayEntry[];
  /** null: no tools */
  readonly tools: ToolRunner | null;
  /** Aborted when the conversation is ended from outside; cancels everything in progress. */
  readonly signal: AbortSignal;
  /** Whether the person speaks first. */
  readonly waitsForGreeting?: boolean;
  readonly limits?: Partial<PersonaLimits>;
  /** Limits of pathways in which the conversation continues. */
  readonly pathwayLimits?: Partial<ConversationLimits>;
  /** Continues a stored conversation from its `snapshot`. */
  readonly state?: PersonaState;
  /** Its log so far; absent: none. */
  readonly log?: readonly LogLine[];
}

export interface PersonaLimits {
  /** silence after the last word before a `silence` event, ms */
  readonly listenMs: number;
  /** how often the person is asked whether they are still there */
  readonly repeats: number;
  /** model answers to its own tool results in one turn */
  readonly rounds: number;
  /** consecutive model failures that are apologized for; the next one is thrown */
  readonly apologies: number;
  /** characters of dialogue shown to the model */
  readonly contextChars: number;
  /** characters of a tool's result shown to the model */
  readonly resultChars: number;
}

export const personaLimits: PersonaLimits = {
  listenMs: 10_000,
  repeats: 2,
  rounds: 6,
  apologies: 0,
  contextChars: 60_000,
  resultChars: 8000,
};

export const apology = 'I am sorry, I did not get that. Could you say it again, please?';
/** Nodes of a pathway name their keys; here an entry ends with # or after a pause. */
const keys: KeyPlan = { sequences: [], maxDigits: 32, terminator: '#', interDigitMs: 3000 };
/** What a persona listens for. */
export const anyInput = { keys, interruptionThreshold: null, turn: anyTurn };
