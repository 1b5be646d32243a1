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
const text = Type.String();

export const DiscoveryRequest = Closed({
  host: Text(1, 255, 'Host, address or destination string'),
  port: Optional(Integer(1, 65535)),
  transport: Optional(OneOf(['udp', 'tcp', 'tls'])),
});
export type DiscoveryRequest = Static<typeof DiscoveryRequest>;

export const DiscoveryView = Type.Object({
  discovery_id: text,
  host: text,
  ...DiscoveryResult.properties,
  started_at: Iso(),
  completed_at: Nullable(Iso()),
});
export type DiscoveryView = Static<typeof DiscoveryView>;

export const Discovered = Plain(DiscoveryView);
export const Discovering = Type.Object(Discovered.properties, {
  description: 'It continues; poll /v1/sip/discover/status',
});
export const DiscoveryQuery = Type.Object({ discovery_id: Text(1, 64) });

export const TestCallRequest = Closed({
  phone_number: PhoneNumber(),
  to: Optional(Text(1, 64, 'Number or extension that is called')),
  configuration_id: Optional(Uuid()),
  max_seconds: Optional(Integer(5, 60)),
  dtmf: Optional(Matching('^[0-9*#A-Dw]{1,32}$', '1 to 32 of 0-9, *, #, A-D, and w for a pause')),
});
export type TestCallRequest = Static<typeof TestCallRequest>;

export const TestCallStarted = Plain(Type.Object({ call_id: text, message: text }));
export const TestCallQuery = Type.Object({ call_id: Text(1, 64) });
export const TestCallView = Plain(Type.Object({ call_id: text, ...TestCallState.properties }));
