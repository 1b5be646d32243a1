/**
 * What happened, beside the line of a transcript that says it for people. Programs read the facts: a sentence may be
 * reworded, and words of a caller or a model may look like one.
 */
import { type Static, Type } from 'typebox';
import { Nullable } from './schema.ts';

export const TranscriptFact = Type.Union([
  Type.Object({ kind: Type.Literal('tool_used'), name: Type.String() }),
  /** The use before it. */
  Type.Object({ kind: Type.Literal('tool_ended'), ok: Type.Boolean() }),
  /** `status`: null: there was no answer */
  Type.Object({ kind: Type.Literal('webhook_answered'), status: Nullable(Type.Integer()) }),
  /** Speech stopped before its end. `heard`: the words that were played; null: not known. */
  Type.Object({ kind: Type.Literal('cut_off'), said: Type.String(), heard: Nullable(Type.String()) }),
  /** Lines of the transcript are missing. */
  Type.Object({ kind: Type.Literal('lines_left_out') }),
]);
export type TranscriptFact = Static<typeof TranscriptFact>;
