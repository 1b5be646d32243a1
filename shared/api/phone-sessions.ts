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
import { described } from '#shared/described.ts';
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
  phone_number: Optional(
    PhoneNumber('Number whose agent is called, or that calls `to`; either this or an agent'),
  ),
  to: Optional(
    Text(1, longestPhoneTarget, 'E.164 number, extension or SIP URI: called over a trunk of phone_number'),
  ),
  pathway_id: Optional(Uuid('Pathway that is called; instead of a number')),
  pathway_version: Optional(
    described(
      PathwayVersionChoice,
      'Its version: a number, 0 for the live graph, `production` or `staging`; default: production',
    ),
  ),
  persona_id: Optional(Uuid('Persona that is called; instead of a number')),
  caller: Line(1, longestPhoneCaller, 'Name that calls show as the caller'),
  purpose: Optional(Nullable(Line(1, 200), 'For people; null: none')),
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
  id: Type.String({ description: 'Id of the phone session' }),
  phone_number: Nullable(
    Type.String({ description: 'Whose agent may be called, or that calls `to`; null: it is for an agent' }),
  ),
  to: Nullable(
    Type.String({ description: 'Who may be called over a trunk of phone_number; null: the agent is called' }),
  ),
  pathway_id: Nullable(text, 'Pathway that may be called; null: none'),
  pathway_version: Nullable(Type.Integer(), 'Its version; 0 is the live graph; null: no pathway'),
  persona_id: Nullable(text, 'Persona that may be called; null: none'),
  caller: Type.String({ description: 'from of its calls' }),
  purpose: Nullable(text, 'For people; null: none'),
  calls: Type.Integer({ description: 'How many calls may be made with it' }),
  calls_made: Type.Integer({ description: 'As far as its edge has reported them' }),
  last_call_id: Nullable(Type.String({ description: 'The newest of them; null: there is none' })),
  edge_id: Type.String({ description: 'The one edge that accepts it' }),
  state: OneOf(['open', 'expired', 'revoked'], 'open: calls may still begin'),
  created_at: Iso('When it was created'),
  expires_at: Iso('Until when calls may begin'),
  revoked_at: Nullable(Iso(), 'When it was revoked; null: it was not'),
});
export type PhoneSessionView = Static<typeof PhoneSessionView>;

export const PhoneSessionPath = PathId('id', 'Id of the phone session');
export const PhoneSessionQuery = Type.Object({
  ...PageQuery(500, 100).properties,
  state: Optional(OneOf(['open', 'ended'], 'open: calls may still begin; ended: expired and revoked ones')),
});
export type PhoneSessionQuery = Static<typeof PhoneSessionQuery>;
export const PhoneSessionList = Plain(
  Type.Object({
    phone_sessions: Type.Array(PhoneSessionView, { description: 'Newest first' }),
    total_count: Integer(0, 1_000_000, 'How many there are on all pages'),
  }),
);
export const PhoneSessionOne = Plain(
  Type.Object({ phone_session: described(PhoneSessionView, 'The phone session') }),
);
/** With what a phone in a browser calls. */
export const PhoneCredentials = Type.Object({
  username: Type.String({
    description: 'For SIP digest; says what the session allows, and is no secret',
  }),
  password: Type.String({ description: 'Shown in this response only' }),
  realm: Type.String({ description: 'Realm of the digest' }),
  url: Type.String({
    description: 'WebSocket of SIP (RFC 7118)',
    examples: ['wss://edge.example.com:5062/'],
  }),
  uri: Type.String({ description: 'What to call', examples: ['sip:+14155550100@edge.example.com'] }),
});

export const PhoneSessionMade = Plain(
  Type.Object({
    phone_session: described(PhoneSessionView, 'The phone session'),
    credentials: described(PhoneCredentials, 'With what the browser calls'),
  }),
);
