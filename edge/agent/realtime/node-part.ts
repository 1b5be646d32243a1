import type { DialogueTool, ToolCall } from '#shared/agent/dialogue.ts';
import type { SpokenLine } from './model-session.ts';

/** What a model does in one node of a pathway. */
export interface NodePart {
  /** With their variables. */
  readonly instructions: string;
  /** Its first words; null: as its instructions say. */
  readonly sentence: string | null;
  /** What was said before. */
  readonly history: readonly SpokenLine[];
  readonly mayEnd: boolean;
  /** null: it stays to the end */
  readonly handBack: {
    readonly tool: DialogueTool;
    /** @returns what hands back */
    readonly read: (call: ToolCall) => (() => void) | { readonly refused: string };
  } | null;
}
