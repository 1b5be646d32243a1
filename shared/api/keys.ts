/** API keys of an organization and sessions of browsers, over HTTP (contract 14.5 and 14.6). */
import { type Static, Type } from 'typebox';
import { Closed, Integer, Iso, Line, Nullable, OneOf, PageQuery, PathId, Plain } from '#shared/api/common.ts';

const Optional = Type.Optional;
const text = Type.String();

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
  name: Line(1, 200),
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
  id: text,
  name: text,
  role: OneOf(keyRoles),
  begins: Type.String({ description: 'The first characters of the key' }),
  state: OneOf(['active', 'expired', 'revoked']),
  created_at: Iso(),
  last_used_at: Nullable(Type.String({ description: 'To the minute; null: never' })),
  expires_at: Nullable(
    Type.String({ description: 'Set when it was rotated: when it stops working; null: it does not' }),
  ),
  revoked_at: Nullable(Iso()),
};

const KeyView = Type.Object(key);
export type KeyView = Static<typeof KeyView>;

export const KeyPath = PathId('id', 'Id of the key, not the key itself');
export const KeyQuery = Type.Object({
  ...PageQuery(500, 100).properties,
  state: Optional(OneOf(['active', 'ended'], 'active: those that work; ended: revoked and expired ones')),
});
export type KeyQuery = Static<typeof KeyQuery>;
export const KeyList = Plain(Type.Object({ keys: Type.Array(KeyView), total_count: Integer(0, 1_000_000) }));
export const KeyOne = Plain(Type.Object({ key: KeyView }));
export const KeyMade = Plain(
  Type.Object({
    key: KeyView,
    secret: Type.String({ description: 'The key for the authorization header, shown once' }),
  }),
);
export const KeyRotated = Plain(
  Type.Object({
    key: KeyView,
    secret: Type.String({ description: 'The new key for the authorization header, shown once' }),
    former: KeyView,
  }),
);

const ofKey = Type.Object({ id: text, name: text, begins: text });

const session = {
  id: text,
  key: ofKey,
  role: AnyRole(),
  created_at: Iso(),
  last_used_at: Iso(),
  idle_until: Type.String({ description: 'When it ends without another request; to the minute' }),
  expires_at: Type.String({ description: 'When it ends in any case' }),
  address: Type.String({ description: 'From which it was begun' }),
  user_agent: Nullable(Type.String({ description: 'The browser that began it, as it named itself' })),
};

const SessionView = Type.Object(session);
export type SessionView = Static<typeof SessionView>;

const CurrentSession = Type.Object({
  role: AnyRole(),
  key: ofKey,
  organization: Nullable(Type.Object({ id: text, name: text, sip_enabled: Type.Boolean() })),
  session: Nullable(Type.Object({ ...session })),
  csrf_token: Nullable(
    Type.String({ description: 'For the header X-CSRF-Token of requests that change something' }),
  ),
});
export type CurrentSession = Static<typeof CurrentSession>;
export const CurrentSessionAnswer = Plain(CurrentSession);

export const SessionPath = PathId('id', 'Id of the session');
export const SessionsQuery = PageQuery(500, 100);
export const SessionList = Plain(
  Type.Object({
    sessions: Type.Array(Type.Object({ ...session, current: Type.Boolean() })),
    total_count: Integer(0, 1_000_000),
  }),
);
export const SessionEnded = Plain(Type.Object({ id: text }));
