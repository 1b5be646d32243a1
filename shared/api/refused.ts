/** Refused INVITEs: who called, why it was refused, and what to change (contract 3.4). */
import { type Static, Type } from 'typebox';
import { Integer, Iso, Nullable, OneOf, PhoneNumber, Plain, Text, Uuid } from '#shared/api/common.ts';
import { refusalReasons } from '#shared/refusals.ts';

const Optional = Type.Optional;
const text = Type.String();
const count = (description: string) => Type.Integer({ description });
const last = (description: string) => Nullable(Type.String({ description }));

const filters = {
  source: Optional(Text(1, 64, 'Address, or /64 of IPv6, as entries show it')),
  from_date: Optional(Text(1, 40, 'Date or ISO time of last_at, inclusive')),
  to_date: Optional(Text(1, 40, 'ISO time of last_at, exclusive; a bare date includes its day')),
  limit: Optional(Integer(1, 500)),
  before: Optional(Text(1, 80, 'cursor of the last entry of the previous page')),
};

export const RefusedQuery = Type.Object({
  phone_number: Optional(PhoneNumber()),
  reason: Optional(OneOf(refusalReasons)),
  ...filters,
});
export type RefusedQuery = Static<typeof RefusedQuery>;

/** For operators, who see every organization, and calls to numbers that nobody has. */
export const AdminRefusedQuery = Type.Object({ org_id: Optional(Uuid()), ...filters });

export const RefusedEntry = Type.Object({
  id: text,
  org_id: Nullable(text),
  source: last('Address of the caller, of IPv6 its /64; null: further sources, too many to be told apart'),
  phone_number: last('The called number; null: none that is configured, or further sources'),
  reason: OneOf(refusalReasons),
  summary: Type.String({ description: 'The reason in a sentence' }),
  advice: Type.String({ description: 'What to change so that such calls get through' }),
  attempts: count('Refused INVITEs, each with its retries once'),
  unanswered: count('Of them those that got no answer, because the source was blocked'),
  first_at: Iso(),
  last_at: Iso(),
  sip_status: count('Of the last answer'),
  detail: last('More about the last one'),
  from: last('Caller of the last one, as it said'),
  dialed: last('Number that the last one called, as it said'),
  user_agent: last('Of the last one'),
  call_id: last('SIP Call-ID of the last one'),
  edge_id: text,
  cursor: Type.String({ description: 'For before' }),
});
export type RefusedEntry = Static<typeof RefusedEntry>;

export const RefusedPage = Plain(Type.Object({ refused: Type.Array(RefusedEntry) }));
