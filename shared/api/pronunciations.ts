/** Pronunciation lists (contract 14.1). */
import { type Static, Type } from 'typebox';
import { Closed, List, Text } from '#shared/api/common.ts';
import { Pronunciation } from '../pronunciation-entry.ts';
import { pronunciationSizes as sizes } from '../pronunciation-sizes.ts';

export const Pronunciations = List(
  Closed({
    text: Text(1, sizes.text, 'Text that is replaced'),
    say: Text(1, sizes.say, 'What is spoken in its place'),
    whole_words: Type.Optional(
      Type.Boolean({ description: 'Whether only whole words are replaced; default: true' }),
    ),
    match_case: Type.Optional(Type.Boolean({ description: 'Whether case counts; default: false' })),
  }),
  0,
  sizes.entries,
);
export type Pronunciations = Static<typeof Pronunciations>;

export const PronunciationsView = Type.Array(Pronunciation, { maxItems: sizes.entries });
