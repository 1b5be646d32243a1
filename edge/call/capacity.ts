/**
 * Call capacity, shared by organizations: the last tenth is reserved for organizations below their even share. Pure.
 *
 *     |<------------- -anyone ------------->|<-- reserve -->|      of maxCalls
 *                                             for organizations with less than their even share
 */

/** Part of `maxCalls` reserved for organizations below their even share; at least one call. */
const reserved = 0.1;

export interface Capacity {
  readonly maxCalls: number;
  /** Live calls: all, and those of the organization that wants another one. */
  readonly live: number;
  readonly ofOrganization: number;
  /** Organizations that have numbers. */
  readonly organizations: number;
}

/** Why an organization gets no further call. */
export type Full = 'capacity' | 'organization_share';

export function fullFor({ maxCalls, live, ofOrganization, organizations }: Capacity): Full | null {
  const free = maxCalls - live;
  if (free <= 0) return 'capacity';
  if (organizations <= 1 || free > reserveOf(maxCalls)) return null;
  const evenShare = Math.max(1, Math.floor(maxCalls / organizations));
  return ofOrganization < evenShare ? null : 'organization_share';
}

function reserveOf(maxCalls: number): number {
  return Math.max(1, Math.floor(maxCalls * reserved));
}

/** For the call log of an organization that has used its share. */
export const shareTaken = "Your organization has used its share of this edge's call capacity.";
