/** Call limits and their ceilings as stored, shown and sent to the edges: pure. */
import type { Static } from 'typebox';
import type { CallLimitsUpdate, CallLimitsView } from '#shared/api/call-limits.ts';
import type { CallLimits } from '#shared/edge-protocol/numbers.ts';
import { ApiError } from '#shared/errors.ts';
import { fromJson, type Json } from '../db/index.ts';

export const ceilingNames = ['concurrent', 'per_minute'] as const;

/** The upper limit of a customer's own limits; null: no ceiling. */
export type CallCeiling = Readonly<Record<(typeof ceilingNames)[number], number | null>>;

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

/**
 * The ceiling of one organization.
 * @param set by the operator for this organization, JSON; a missing member falls back to the deployment's
 */
export function ceilingOf(set: Json | null, deployment: CallCeiling): CallCeiling {
  const own = set === null ? {} : fromJson<Partial<CallCeiling>>(set);
  return { ...deployment, ...own };
}

/** The limits that the edges enforce: the organization's own, capped at its ceiling. Null: no limits. */
export function limitsInForce(own: CallLimits | undefined, ceiling: CallCeiling): CallLimits | null {
  const lowered = ceilingNames.flatMap((name) => {
    const most = ceiling[name];
    return most === null ? [] : [[name, Math.min(own?.[name] ?? most, most)] as const];
  });
  if (!own && lowered.length === 0) return null;
  return { ...own, ...Object.fromEntries(lowered) };
}

/** @throws ApiError INVALID_PARAMETER for a limit above the ceiling; a missing limit means the ceiling itself */
export function checkBelowCeiling(limits: CallLimits | null | undefined, ceiling: CallCeiling): void {
  for (const name of ceilingNames) {
    const [limit, most] = [limits?.[name] ?? null, ceiling[name]];
    if (limit === null || most === null || limit <= most) continue;
    throw ApiError.invalid(
      `/call_limits/${name}`,
      `must be <= ${most}, the ceiling that the operator of this service has set for the organization`,
    );
  }
}
