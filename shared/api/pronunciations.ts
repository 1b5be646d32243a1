/** Pronunciation lists (contract 14.1). */
import { type Static, Type } from 'typebox';
import { Closed, List, Text } from '#shared/api/common.ts';
import { Pronunciation } from '../pronunciation-entry.ts';
import { pronunciationSizes as sizes } from '../pronunciation-sizes.ts';

export const Pronunciations = List(
  Closed({
    text: Text(1, sizes.text),
    say: Text(1, sizes.say),
    whole_words: Type.Optional(Type.Boolean()),
    match_case: Type.Optional(Type.Boolean()),
  }),
  0,
  sizes.entries,
);
export type Pronunciations = Static<typeof Pronunciations>;

export const PronunciationsView = Type.Array(Pronunciation, { maxItems: sizes.entries });
