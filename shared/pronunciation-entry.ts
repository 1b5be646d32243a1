import { type Static, Type } from 'typebox';

/** An entry of a pronunciation list (contract 14.1 and 11.1). */
export const Pronunciation = Type.Object({
  text: Type.String({ description: 'Text that is replaced' }),

  say: Type.String({ description: 'What is spoken in its place' }),

  whole_words: Type.Optional(
    Type.Boolean({ description: 'Whether only whole words are replaced; absent: true' }),
  ),

  match_case: Type.Optional(Type.Boolean({ description: 'Whether case counts; absent: false' })),
});
export type Pronunciation = Static<typeof Pronunciation>;
