/** Refused INVITEs: who called, why it was refused, and what to change (contract 3.4). */
import { type Static, Type } from 'typebox';
import {
  Integer,
  Iso,
  NextPage,
  Nullable,
  OneOf,
  PhoneNumber,
  Plain,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { refusalReasons } from '#shared/refusals.ts';

const Optional = Type.Optional;
const text = Type.String();
const count = (description: string) => Type.Integer({ description });
const last = (description: string) => Nullable(Type.String({ description }));

const filters = {
  source: Optional(Text(1, 64, 'Address, or /64 of IPv6, as entries show it')),
  from_date: Optional(Text(1, 40, 'Date or ISO time of last_at, inclusive')),
  to_date: Optional(Text(1, 40, 'ISO time of last_at, exclusive; a bare date includes its day')),
  limit: Optional(Integer(1, 500, 'Most entries of a page; default: 50')),
  before: Optional(Text(1, 80, 'next of the previous page')),
};

export const RefusedQuery = Type.Object({
  phone_number: Optional(PhoneNumber('Only calls to this number')),
  reason: Optional(OneOf(refusalReasons, 'Only calls refused for this reason')),
  ...filters,
});
export type RefusedQuery = Static<typeof RefusedQuery>;

/** For operators, who see every organization, and calls to numbers that nobody has. */
export const AdminRefusedQuery = Type.Object({
  org_id: Optional(Uuid('Only calls to numbers of this organization')),
  ...filters,
});

export const RefusedEntry = Type.Object({
  id: Type.String({ description: 'Id of the entry' }),
  org_id: Nullable(text, 'Id of the organization; null: the number is configured nowhere'),
  source: last('Address of the caller, of IPv6 its /64; null: further sources, too many to be told apart'),
  phone_number: last('The called number; null: none that is configured, or further sources'),
  reason: OneOf(refusalReasons, 'Why the calls were refused'),
  summary: Type.String({ description: 'The reason in a sentence' }),
  advice: Type.String({ description: 'What to change so that such calls get through' }),
  attempts: count('Refused INVITEs, each with its retries once'),
  unanswered: count('Of them those that got no answer, because the source was blocked'),
  first_at: Iso('When the first was refused'),
  last_at: Iso('When the last was refused'),
  sip_status: count('SIP status of the last answer; null: none was sent'),
  detail: last('More about the last one; null: nothing'),
  from: last('Caller of the last one, as it said; null: nobody'),
  dialed: last('Number that the last one called, as it said; null: none'),
  user_agent: last('User-Agent of the last call; null: none'),
  call_id: last('SIP Call-ID of the last one; null: none'),
  edge_id: Type.String({ description: 'Edge that refused the last' }),
  cursor: Type.String({ description: 'For `before` of the next page' }),
});
export type RefusedEntry = Static<typeof RefusedEntry>;

export const RefusedPage = Plain(
  Type.Object({ refused: Type.Array(RefusedEntry, { description: 'Newest first' }), next: NextPage() }),
);
