/** INVITEs that an edge has refused, counted by source, reason and number: what is reported of them. */
import { type Static, Type } from 'typebox';
import { refusalReasons } from '#shared/refusals.ts';
import { Iso, Nullable } from './schema.ts';

/** Longest texts of a caller that are kept of a refused INVITE, characters. */
export const longestRefusedText = 128;
/** Most entries of one report. */
export const mostRefusedOfReport = 200;

const Count = Type.Integer({ minimum: 0 });
const Said = Nullable(Type.String({ maxLength: longestRefusedText }));

export const RefusedInvites = Type.Object({
  /** of the called number; null: the call was to no number that is configured */
  org_id: Nullable(Type.String()),
  /** the configured number; null in the entry of `source` null, and without organization */
  number: Nullable(Type.String()),
  /** address of the caller, for IPv6 its /64; null: of further sources, which are too many to be told apart */
  source: Nullable(Type.String({ maxLength: longestRefusedText })),
  reason: Type.Enum([...refusalReasons]),
  /** since the last report */
  attempts: Count,
  /** of them those that got no answer, because the source is blocked */
  unanswered: Count,
  first_at: Iso,
  last_at: Iso,
  /** of the last one: SIP status of the answer, and what the INVITE said */
  sip_status: Type.Integer(),
  detail: Nullable(Type.String({ maxLength: 500 })),
  from: Said,
  dialled: Said,
  user_agent: Said,
  sip_call_id: Said,
});
export type RefusedInvites = Static<typeof RefusedInvites>;
