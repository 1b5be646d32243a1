/** Conferences (contract 9.10). */
import { type Static, Type } from 'typebox';
import { Integer, Iso, OneOf, Plain, Text } from '#shared/api/common.ts';

const text = Type.String();

const Party = Type.Object({
  call_id: text,
  direction: OneOf(['inbound', 'outbound']),
  from: text,
  to: text,
  joined_at: Iso(),
  moderator: Type.Boolean(),
  muted: Type.Boolean(),
  speaking: Type.Boolean(),
});

const ConferenceView = Type.Object({
  conference_id: text,
  name: text,
  edge_id: text,
  opened_at: Iso(),
  parties: Type.Array(Party, { maxItems: 8, description: 'Who came first is first' }),
});
export type ConferenceView = Static<typeof ConferenceView>;

export const ConferencesQuery = Type.Object({
  limit: Type.Optional(Integer(1, 100)),
  before: Type.Optional(Text(1, 64, 'conference_id of the last entry of the previous page')),
});
export const ConferenceList = Plain(Type.Object({ conferences: Type.Array(ConferenceView) }));
export const ConferenceOne = Plain(Type.Object({ conference: ConferenceView }));

export const ConferencePath = Type.Object({
  conference_id: Type.String({ description: 'Id of the conference' }),
});
export const PartyPath = Type.Object({
  conference_id: Type.String({ description: 'Id of the conference' }),
  call_id: Type.String({ description: 'Id of the call' }),
});

export const PartyChanged = Plain(Type.Object({ message: text }));
