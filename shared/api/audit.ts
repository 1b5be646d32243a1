/** The audit log as read through the API. */
import { type Static, Type } from 'typebox';
import { Integer, Iso, NextPage, Nullable, OneOf, Plain, Text, Uuid } from '#shared/api/common.ts';

const Optional = Type.Optional;
const text = Type.String();

const filters = {
  limit: Optional(Integer(1, 500, 'Most entries of a page; default: 50')),
  before: Optional(Uuid('next of the previous page')),
  area: Optional(Text(1, 64, 'Such as sip, numbers, keys or organization')),
  subject_id: Optional(Text(1, 128, 'Of the changed object, such as a phone number')),
  actor: Optional(Text(1, 64, 'First characters of a key, as entries show them')),
  from_date: Optional(Text(1, 40, 'Date or ISO time, inclusive')),
  to_date: Optional(Text(1, 40, 'ISO time, exclusive; a bare date includes its day')),
};

export const AuditQuery = Type.Object(filters);
export type AuditQuery = Static<typeof AuditQuery>;

/** For operators, who see every organization. */
export const AdminAuditQuery = Type.Object({
  org_id: Optional(Uuid('Only changes of this organization')),
  ...filters,
});

export const AuditEntry = Type.Object({
  id: Type.String({ description: 'Id of the entry' }),
  org_id: Nullable(text, 'Id of the organization; null: the deployment was changed'),
  at: Iso('When it was changed'),
  actor: Type.Object(
    {
      kind: OneOf(['api_key', 'operator', 'command_line', 'system'], 'What kind of key or program it was'),
      key: Nullable(Type.String({ description: 'First characters of the key that was used; null: no key' })),
    },
    { description: 'Who changed it' },
  ),
  request_id: Nullable(text, 'Id of the request, as in the log of the service; null: no request'),
  area: Type.String({ description: 'What was changed, such as sip, numbers or keys' }),
  subject_id: Type.String({ description: 'Id or number of what was changed' }),
  action: Type.String({ description: 'What was done' }),
  changed_fields: Type.Array(text, { description: 'Names only, because values may be secret' }),
});
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditPage = Plain(
  Type.Object({ entries: Type.Array(AuditEntry, { description: 'Newest first' }), next: NextPage() }),
);
