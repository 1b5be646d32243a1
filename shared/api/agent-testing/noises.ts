/** Noises that are given for the weather of test runs over a call (contract 6.18). */
import { type Static, Type } from 'typebox';
import { Closed, Iso, List, Matching, PathId, Text, Uuid } from '#shared/api/common.ts';
import { Testing } from './wrapping.ts';

/** Of one organization. */
export const mostNoises = 20;
/** Characters of a file in base64: 750,000 octets. */
const mostFileCharacters = 1_000_000;

export const NoiseCreate = Closed({
  name: Text(1, 200, 'Name of the noise'),
  wav: Matching('^[A-Za-z0-9+/]+={0,2}$', 'a file in base64', {
    maxLength: mostFileCharacters,
    description:
      'A WAV file of 16-bit PCM, 1 to 30 seconds at a usual rate from 8,000 to 48,000 Hz; of several channels the first is used',
  }),
});
export type NoiseCreate = Static<typeof NoiseCreate>;

const NoiseView = Type.Object({
  id: Uuid('Id of the noise'),
  name: Type.String({ description: 'Name of the noise' }),
  seconds: Type.Number({ description: 'Its length, s' }),
  created_at: Iso('When it was created'),
});
export type NoiseView = Static<typeof NoiseView>;

export const NoisePath = PathId('id', 'Id of a noise');
export const NoiseAnswer = Testing(NoiseView.properties);
export const NoiseList = Testing({ noises: List(NoiseView, 0, mostNoises, 'Newest first, all of them') });
