/** Limits on outgoing calls of an organization or number (docs/call-limits.md). */
import { Type } from 'typebox';
import { Closed, Integer, List, Matching, Nullable } from '#shared/api/common.ts';

const Optional = Type.Optional;
const Prefixes = (description: string) =>
  Optional(Nullable(List(Matching('^\\+[0-9]{1,15}$', 'a + and 1 to 15 digits', { description }), 0, 200)));

/** Absent and null mean the same: no limit of that kind. */
export const CallLimitsUpdate = Closed({
  concurrent: Optional(Nullable(Integer(1, 10_000, 'Concurrent outgoing calls'))),
  per_minute: Optional(Nullable(Integer(1, 10_000, 'Outgoing calls started within 60 s'))),
  allowed_prefixes: Prefixes('E.164 prefix with plus'),
  blocked_prefixes: Prefixes('E.164 prefix with plus'),
});

export const CallLimitsView = Type.Object({
  concurrent: Nullable(Type.Integer()),
  per_minute: Nullable(Type.Integer()),
  allowed_prefixes: Type.Array(Type.String(), { maxItems: 200 }),
  blocked_prefixes: Type.Array(Type.String(), { maxItems: 200 }),
});

/** The operator's limits for the organization; null: no ceiling. */
export const CallCeilingView = Type.Object({
  concurrent: Nullable(Type.Integer()),
  per_minute: Nullable(Type.Integer()),
});
