/** Connections to model servers that hear and speak, and the agents that use them (contract 14.1 and 9.8). */
import { type Static, Type } from 'typebox';
import { Closed, List, Matching, Nullable, OneOf, Text } from '#shared/api/common.ts';
import { described } from '#shared/described.ts';

const Optional = Type.Optional;

const ConnectionName = Matching('^[A-Za-z0-9_-]{1,64}$', '1 to 64 letters, digits, _ and -');
const Protocol = OneOf(['openai', 'gemini', 'elevenlabs']);

export const RealtimeConnections = List(
  Closed({
    name: described(ConnectionName, 'Name that agents use, unique'),
    protocol: described(Protocol, 'Protocol of the server'),
    url: Text(1, 2048, 'wss:// URL of the server'),
    model: Text(1, 200, 'Model that is asked for'),

    api_key: Optional(Nullable(Text(1, 500), 'Key of the server; omitted: as before; null: none')),
  }),
  0,
  20,
);
export type RealtimeConnections = Static<typeof RealtimeConnections>;

export const RealtimeConnectionsView = Type.Array(
  Type.Object({
    name: Type.String({ description: 'Name that agents use' }),
    protocol: described(Protocol, 'Protocol of the server'),
    url: Type.String({ description: '`wss://` URL of the server' }),
    model: Type.String({ description: 'Model that is asked for' }),
    has_api_key: Type.Boolean({ description: 'The key itself is never shown' }),
  }),
  { maxItems: 20 },
);

/** The agent of a number or a call. */
export const RealtimeAgentChoice = Closed({
  connection: described(ConnectionName, 'Name of a connection of the organization'),
  instructions: Text(1, 20_000, 'What the model is told, a template'),
});
export type RealtimeAgentChoice = Static<typeof RealtimeAgentChoice>;
