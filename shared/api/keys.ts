/** API keys of an organization and sessions of browsers, over HTTP (contract 14.5 and 14.6). */
import { type Static, Type } from 'typebox';
import { Closed, Integer, Iso, Line, Nullable, OneOf, PageQuery, PathId, Plain } from '#shared/api/common.ts';
import { described } from '#shared/described.ts';

const Optional = Type.Optional;

/** The roles of an organization's keys, least first: each may do all that those before it may. */
export const keyRoles = ['read', 'member', 'admin'] as const;
export type KeyRole = (typeof keyRoles)[number];

/** What a request may do: by its key's role; all operator keys have the role `operator`. */
export type Role = KeyRole | 'operator';

const AnyRole = () => OneOf([...keyRoles, 'operator']);
const whatRolesMay =
  'read: see everything; member: also change and run; admin: also settings of the organization, its keys and port orders';

/** How long a rotated key works beside its successor, s. */
const mostOverlapSeconds = 2_592_000;
const usualOverlapSeconds = 86_400;

export const KeyCreate = Closed({
  name: Line(1, 200, 'For people'),
  role: OneOf(keyRoles, whatRolesMay),
});
export type KeyCreate = Static<typeof KeyCreate>;

export const KeyRotate = Closed({
  overlap_seconds: Optional(
    Type.Integer({
      minimum: 0,
      maximum: mostOverlapSeconds,
      default: usualOverlapSeconds,
      description: 'How long the former key still works; 0: it is revoked at once',
    }),
  ),
});
export const overlapOf = ({ overlap_seconds = usualOverlapSeconds }: Static<typeof KeyRotate>): number =>
  overlap_seconds;

const key = {
  id: Type.String({ description: 'Id of the key, not the key itself' }),
  name: Type.String({ description: 'Its name' }),
  role: OneOf(keyRoles, 'What it may do'),
  begins: Type.String({ description: 'The first characters of the key' }),
  state: OneOf(['active', 'expired', 'revoked'], 'Whether it works'),
  created_at: Iso('When it was created'),
  last_used_at: Nullable(Type.String({ description: 'To the minute; null: never' })),
  expires_at: Nullable(
    Type.String({ description: 'Set when it was rotated: when it stops working; null: it does not' }),
  ),
  revoked_at: Nullable(Iso(), 'When it was revoked; null: it was not'),
};

const KeyView = Type.Object(key);
export type KeyView = Static<typeof KeyView>;

export const KeyPath = PathId('id', 'Id of the key, not the key itself');
export const KeyQuery = Type.Object({
  ...PageQuery(500, 100).properties,
  state: Optional(OneOf(['active', 'ended'], 'active: those that work; ended: revoked and expired ones')),
});
export type KeyQuery = Static<typeof KeyQuery>;
export const KeyList = Plain(
  Type.Object({
    keys: Type.Array(KeyView, { description: 'Newest first' }),
    total_count: Integer(0, 1_000_000, 'How many there are on all pages'),
  }),
);
export const KeyOne = Plain(Type.Object({ key: described(KeyView, 'The key') }));
export const KeyMade = Plain(
  Type.Object({
    key: described(KeyView, 'The new key'),
    secret: Type.String({ description: 'The key for the authorization header, shown once' }),
  }),
);
export const KeyRotated = Plain(
  Type.Object({
    key: described(KeyView, 'The new key'),
    secret: Type.String({ description: 'The new key for the authorization header, shown once' }),
    former: described(KeyView, 'The key that it replaces'),
  }),
);

const ofKey = Type.Object({
  id: Type.String({ description: 'Id of the key' }),
  name: Type.String({ description: 'Its name' }),
  begins: Type.String({ description: 'Its first characters' }),
});

const session = {
  id: Type.String({ description: 'Id of the session' }),
  key: described(ofKey, 'The key that began the session, or that the request has'),
  role: described(AnyRole(), 'What it may do'),
  created_at: Iso('When it began'),
  last_used_at: Iso('When it was used last'),
  idle_until: Type.String({ description: 'When it ends without another request; to the minute' }),
  expires_at: Type.String({ description: 'When it ends in any case' }),
  address: Type.String({ description: 'Address of the client that began it' }),
  user_agent: Nullable(
    Type.String({ description: 'The browser that began it, as it named itself; null: it did not' }),
  ),
};

const SessionView = Type.Object(session);
export type SessionView = Static<typeof SessionView>;

const CurrentSession = Type.Object({
  role: described(AnyRole(), 'What it may do'),
  key: described(ofKey, 'The key that began the session, or that the request has'),
  organization: Nullable(
    Type.Object({
      id: Type.String({ description: 'Id of the organization' }),
      name: Type.String({ description: 'Its name' }),
      sip_enabled: Type.Boolean({ description: 'Whether it may use /v1/sip' }),
    }),
    "Its organization; null: an operator's key",
  ),
  session: Nullable(Type.Object({ ...session }), 'The session; null: the request had a key'),
  csrf_token: Nullable(
    Type.String({
      description:
        'For the header X-CSRF-Token of requests that change something; null: the request had a key',
    }),
  ),
});
export type CurrentSession = Static<typeof CurrentSession>;
export const CurrentSessionAnswer = Plain(CurrentSession);

export const SessionPath = PathId('id', 'Id of the session');
export const SessionsQuery = PageQuery(500, 100);
export const SessionList = Plain(
  Type.Object({
    sessions: Type.Array(
      Type.Object({
        ...session,
        current: Type.Boolean({ description: 'Whether it is the session of this request' }),
      }),
      { description: 'Newest first' },
    ),
    total_count: Integer(0, 1_000_000, 'How many there are on all pages'),
  }),
);
export const SessionEnded = Plain(Type.Object({ id: Type.String({ description: 'Id of the session' }) }));
