/** Conferences (contract 9.10). */
import { type Static, Type } from 'typebox';
import { Integer, Iso, NextPage, OneOf, Plain, Text } from '#shared/api/common.ts';
import { described } from '#shared/described.ts';

const Party = Type.Object({
  call_id: Type.String({ description: 'Id of the call' }),
  direction: OneOf(['inbound', 'outbound'], 'Direction of the call'),
  from: Type.String({ description: 'Who called' }),
  to: Type.String({ description: 'Who was called' }),
  joined_at: Iso('When it joined'),
  moderator: Type.Boolean({ description: 'Whether it is a moderator' }),
  muted: Type.Boolean({ description: 'Whether the others do not hear it' }),
  speaking: Type.Boolean({ description: 'Whether it speaks now' }),
});

const ConferenceView = Type.Object({
  conference_id: Type.String({ description: 'Id of the conference' }),
  name: Type.String({ description: 'Its name' }),
  edge_id: Type.String({ description: 'Edge on which it is' }),
  opened_at: Iso('When the first party came'),
  parties: Type.Array(Party, { maxItems: 8, description: 'Who came first is first' }),
});
export type ConferenceView = Static<typeof ConferenceView>;

export const ConferencesQuery = Type.Object({
  limit: Type.Optional(Integer(1, 100, 'Most entries of a page; default: 50')),
  before: Type.Optional(Text(1, 64, 'next of the previous page')),
});
export const ConferenceList = Plain(
  Type.Object({ conferences: Type.Array(ConferenceView, { description: 'Newest first' }), next: NextPage() }),
);
export const ConferenceOne = Plain(Type.Object({ conference: described(ConferenceView, 'The conference') }));

export const ConferencePath = Type.Object({
  conference_id: Type.String({ description: 'Id of the conference' }),
});
export const PartyPath = Type.Object({
  conference_id: Type.String({ description: 'Id of the conference' }),
  call_id: Type.String({ description: 'Id of the call' }),
});

export const PartyChanged = Plain(
  Type.Object({ message: Type.String({ description: 'Says what happened, for people' }) }),
);
