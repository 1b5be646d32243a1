/** Connections to model servers that hear and speak, and the agents that use them (contract 14.1 and 9.8). */
import { type Static, Type } from 'typebox';
import { Closed, List, Matching, Nullable, OneOf, Text } from '#shared/api/common.ts';

const Optional = Type.Optional;

const ConnectionName = Matching('^[A-Za-z0-9_-]{1,64}$', '1 to 64 letters, digits, _ and -');
const Protocol = OneOf(['openai', 'gemini', 'elevenlabs']);

export const RealtimeConnections = List(
  Closed({
    name: ConnectionName,
    protocol: Protocol,
    url: Text(1, 2048, 'A wss:// URL'),
    model: Text(1, 200),
    /** Omitted: as before; null: none. */
    api_key: Optional(Nullable(Text(1, 500))),
  }),
  0,
  20,
);
export type RealtimeConnections = Static<typeof RealtimeConnections>;

export const RealtimeConnectionsView = Type.Array(
  Type.Object({
    name: Type.String(),
    protocol: Protocol,
    url: Type.String(),
    model: Type.String(),
    has_api_key: Type.Boolean({ description: 'The key itself is never shown' }),
  }),
  { maxItems: 20 },
);

/** The agent of a number or a call. */
export const RealtimeAgentChoice = Closed({
  connection: ConnectionName,
  instructions: Text(1, 20_000),
});
export type RealtimeAgentChoice = Static<typeof RealtimeAgentChoice>;
