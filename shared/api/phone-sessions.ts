/** Phone sessions: short-lived credentials with which a browser calls (contract 18). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  Line,
  Nullable,
  OneOf,
  PageQuery,
  PathId,
  PhoneNumber,
  Plain,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { PathwayVersionChoice } from '#shared/api/inbound.ts';
import {
  longestPhoneCaller,
  longestPhoneSessionS,
  longestPhoneTarget,
  mostPhoneCalls,
} from '#shared/phone-session.ts';

const Optional = Type.Optional;
const text = Type.String();

const usualSeconds = 300;

export const PhoneSessionCreate = Closed({
  phone_number: Optional(PhoneNumber()),
  to: Optional(
    Text(1, longestPhoneTarget, 'E.164 number, extension or SIP URI: called over a trunk of phone_number'),
  ),
  pathway_id: Optional(Uuid()),
  pathway_version: Optional(PathwayVersionChoice),
  persona_id: Optional(Uuid()),
  caller: Line(1, longestPhoneCaller),
  purpose: Optional(Nullable(Line(1, 200))),
  calls: Optional(
    Type.Integer({
      minimum: 1,
      maximum: mostPhoneCalls,
      default: 1,
      description: 'How many calls may be made with it',
    }),
  ),
  expires_in_seconds: Optional(
    Type.Integer({
      minimum: 30,
      maximum: longestPhoneSessionS,
      default: usualSeconds,
      description: 'Until when calls may begin; those that are up go on',
    }),
  ),
});
export type PhoneSessionCreate = Static<typeof PhoneSessionCreate>;
export const withDefaults = ({
  calls = 1,
  expires_in_seconds = usualSeconds,
  purpose = null,
  ...order
}: PhoneSessionCreate) => ({ ...order, calls, expires_in_seconds, purpose });

const PhoneSessionView = Type.Object({
  id: text,
  phone_number: Nullable(
    Type.String({ description: 'Whose agent may be called, or that calls `to`; null: it is for an agent' }),
  ),
  to: Nullable(Type.String({ description: 'Who may be called over a trunk of phone_number' })),
  pathway_id: Nullable(text),
  pathway_version: Nullable(Type.Integer()),
  persona_id: Nullable(text),
  caller: Type.String({ description: 'from of its calls' }),
  purpose: Nullable(text),
  calls: Type.Integer(),
  calls_made: Type.Integer({ description: 'As far as its edge has reported them' }),
  last_call_id: Nullable(Type.String({ description: 'The newest of them' })),
  edge_id: Type.String({ description: 'The one edge that accepts it' }),
  state: OneOf(['open', 'expired', 'revoked']),
  created_at: Iso(),
  expires_at: Iso(),
  revoked_at: Nullable(Iso()),
});
export type PhoneSessionView = Static<typeof PhoneSessionView>;

export const PhoneSessionPath = PathId('id', 'Id of the phone session');
export const PhoneSessionQuery = Type.Object({
  ...PageQuery(500, 100).properties,
  state: Optional(OneOf(['open', 'ended'], 'open: calls may still begin; ended: expired and revoked ones')),
});
export type PhoneSessionQuery = Static<typeof PhoneSessionQuery>;
export const PhoneSessionList = Plain(
  Type.Object({ phone_sessions: Type.Array(PhoneSessionView), total_count: Integer(0, 1_000_000) }),
);
export const PhoneSessionOne = Plain(Type.Object({ phone_session: PhoneSessionView }));
/** With what a phone in a browser calls. */
export const PhoneCredentials = Type.Object({
  username: Type.String({
    description: 'For SIP digest; says what the session allows, and is no secret',
  }),
  password: Type.String({ description: 'Shown in this response only' }),
  realm: text,
  url: Type.String({
    description: 'WebSocket of SIP (RFC 7118)',
    examples: ['wss://edge.example.com:5062/'],
  }),
  uri: Type.String({ description: 'What to call', examples: ['sip:+14155550100@edge.example.com'] }),
});

export const PhoneSessionMade = Plain(
  Type.Object({
    phone_session: PhoneSessionView,
    credentials: PhoneCredentials,
  }),
);
