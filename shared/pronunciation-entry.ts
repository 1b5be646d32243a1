import { type Static, Type } from 'typebox';

/** An entry of a pronunciation list (contract 14.1 and 11.1). */
export const Pronunciation = Type.Object({
  text: Type.String(),
  /** what is spoken in its place */
  say: Type.String(),
  /** absent: true */
  whole_words: Type.Optional(Type.Boolean()),
  /** absent: false */
  match_case: Type.Optional(Type.Boolean()),
});
export type Pronunciation = Static<typeof Pronunciation>;
