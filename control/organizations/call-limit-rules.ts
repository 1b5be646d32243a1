/** Call limits as they are stored, shown and sent to the edges: pure. */
import type { Static } from 'typebox';
import type { CallLimitsUpdate, CallLimitsView } from '#shared/api/call-limits.ts';
import type { CallLimits } from '#shared/edge-protocol/numbers.ts';

/** As the API shows them; null when none are set. */
export function limitsView(
  limits: Static<typeof CallLimitsUpdate> | null,
): Static<typeof CallLimitsView> | null {
  if (limits === null) return null;
  return {
    concurrent: limits.concurrent ?? null,
    per_minute: limits.per_minute ?? null,
    allowed_prefixes: limits.allowed_prefixes ?? [],
    blocked_prefixes: limits.blocked_prefixes ?? [],
  };
}

/** What counts for an organization: its own limits or, when it has set none at all, the deployment's. Null: none. */
export function limitsInForce(own: CallLimits | undefined, defaults: CallLimits): CallLimits | null {
  if (own) return own;
  return Object.values(defaults).every((limit) => limit === null) ? null : defaults;
}
