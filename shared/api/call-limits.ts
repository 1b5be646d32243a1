/** Limits on outgoing calls of an organization or number (docs/call-limits.md). */
import { Type } from 'typebox';
import { Closed, Integer, List, Matching, Nullable } from '#shared/api/common.ts';

const Optional = Type.Optional;
const Prefixes = (description: string) =>
  Optional(Nullable(List(Matching('^\\+[0-9]{1,15}$', 'a + and 1 to 15 digits'), 0, 200), description));

/** Absent and null mean the same: no limit of that kind. */
export const CallLimitsUpdate = Closed({
  concurrent: Optional(Nullable(Integer(1, 10_000, 'Concurrent outgoing calls; null: no limit'))),
  per_minute: Optional(Nullable(Integer(1, 10_000, 'Outgoing calls started within 60 s; null: no limit'))),
  allowed_prefixes: Prefixes('Only numbers with one of these prefixes may be called; null: all'),
  blocked_prefixes: Prefixes('Numbers with one of these prefixes may not be called; null: none'),
});

export const CallLimitsView = Type.Object({
  concurrent: Nullable(Type.Integer(), 'Concurrent outgoing calls; null: no limit'),
  per_minute: Nullable(Type.Integer(), 'Outgoing calls started within 60 s; null: no limit'),
  allowed_prefixes: Type.Array(Type.String(), {
    maxItems: 200,
    description: 'Only numbers with one of these prefixes may be called; empty: all',
  }),
  blocked_prefixes: Type.Array(Type.String(), {
    maxItems: 200,
    description: 'Numbers with one of these prefixes may not be called',
  }),
});

/** The operator's limits for the organization; null: no ceiling. */
export const CallCeilingView = Type.Object({
  concurrent: Nullable(Type.Integer(), 'Most concurrent outgoing calls that may be set; null: no ceiling'),
  per_minute: Nullable(Type.Integer(), 'Most outgoing calls within 60 s that may be set; null: no ceiling'),
});
