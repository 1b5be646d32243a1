import type { ConversationLimits, ConversationOptions } from './conversation-options.ts';
import type { DialogueModel } from './dialogue.ts';
import type { ToolRunner } from './interfaces.ts';
import type { PersonaText } from './persona-prompt.ts';
import type { PersonaState } from './persona-state.ts';
import type { PathwayWay } from './persona-tools.ts';

export interface PersonaOptions
  extends Pick<
    ConversationOptions,
    'understanding' | 'variables' | 'builtIns' | 'now' | 'firstSentence' | 'otherPathway'
  > {
  readonly persona: PersonaText;
  readonly model: DialogueModel;
  readonly channel: 'call' | 'chat';
  readonly language: string;
  /** Of a call: whether either side can press keys, as far as is known; absent: yes. */
  readonly keysPossible?: () => boolean;
  /** 0..1; null: the model's own */
  readonly temperature: number | null;
  readonly seed?: number;
  /** name to target; `default` is the one without a name */
  readonly transfers: Readonly<Record<string, string>>;
  readonly pathways: readonly PathwayWay[];
  /** null: no tools */
  readonly tools: ToolRunner | null;
  /** Aborted when the conversation is over from outside: ends what is under way. */
  readonly signal: AbortSignal;
  /** Whether the person has the first word. */
  readonly waitsForGreeting?: boolean;
  readonly limits?: Partial<PersonaLimits>;
  /** Of the pathways that the conversation goes on in. */
  readonly pathwayLimits?: Partial<ConversationLimits>;
  /** To take up a conversation that was stored, as `snapshot` gave it. */
  readonly state?: PersonaState;
}

export interface PersonaLimits {
  /** ms of silence after the last word until `silence` is due */
  readonly listenMs: number;
  /** times that the person is asked whether they are still there */
  readonly repeats: number;
  /** answers of the model to results of its own tool calls, in one turn */
  readonly rounds: number;
  /** failures of the model in a row that are excused; the next one is thrown */
  readonly apologies: number;
  /** characters of the dialogue that the model is shown */
  readonly contextChars: number;
  /** characters of a tool's result that the model is shown */
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
