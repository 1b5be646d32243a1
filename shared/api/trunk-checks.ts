/** Discovery and test calls (contract 3.1 and 3.2). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  Matching,
  Nullable,
  OneOf,
  PhoneNumber,
  Plain,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { TestCallState } from '#shared/edge-protocol/reports.ts';
import { DiscoveryResult } from '#shared/trunk-protocol.ts';

const Optional = Type.Optional;

export const DiscoveryRequest = Closed({
  host: Text(1, 255, 'Host, address or destination string'),
  port: Optional(Integer(1, 65535, 'Only this port')),
  transport: Optional(OneOf(['udp', 'tcp', 'tls'], 'Only this transport')),
});
export type DiscoveryRequest = Static<typeof DiscoveryRequest>;

export const DiscoveryView = Type.Object({
  discovery_id: Type.String({ description: 'Id of the discovery, `disc_` and a uuid' }),
  host: Type.String({ description: 'Host that was asked for' }),
  ...DiscoveryResult.properties,
  started_at: Iso('When it began'),
  completed_at: Nullable(Iso(), 'When it ended; null: it has not'),
});
export type DiscoveryView = Static<typeof DiscoveryView>;

export const Discovered = Plain(DiscoveryView);
export const Discovering = Type.Object(Discovered.properties, {
  description: 'It continues; poll /v1/sip/discover/status',
});
export const DiscoveryQuery = Type.Object({ discovery_id: Text(1, 64, 'Id of the discovery') });

export const TestCallRequest = Closed({
  phone_number: PhoneNumber('Number whose configuration places the call'),
  to: Optional(Text(1, 64, 'Number or extension that is called')),
  configuration_id: Optional(Uuid('Configuration that places the call; default: the primary outbound one')),
  max_seconds: Optional(
    Integer(5, 60, 'Longest time of ringing, and again after the answer, s; default: 10'),
  ),
  dtmf: Optional(
    Matching('^[0-9*#A-Dw]{1,32}$', '1 to 32 of 0-9, *, #, A-D, and w for a pause', {
      description: 'Keys to send after the answer; `w` waits 0.5 s',
    }),
  ),
});
export type TestCallRequest = Static<typeof TestCallRequest>;

export const TestCallStarted = Plain(
  Type.Object({
    call_id: Type.String({ description: 'Id of the test call, `tc_` and a uuid' }),
    message: Type.String({ description: 'Says what happened, for people' }),
  }),
);
export const TestCallQuery = Type.Object({ call_id: Text(1, 64, 'Id of the test call') });
export const TestCallView = Plain(
  Type.Object({ call_id: Type.String({ description: 'Id of the test call' }), ...TestCallState.properties }),
);
