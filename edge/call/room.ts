/**
 * The room for calls, shared by organizations: the calls of one leave the last tenth to those that have fewer. Pure.
 *
 *     |<------------- anybody ------------->|<-- reserve -->|      of maxCalls
 *                                             for organizations with less than their even share
 */

/** Part of `maxCalls` that is kept for organizations with less than their even share, at least one call. */
const reserved = 0.1;

export interface Room {
  readonly maxCalls: number;
  /** Calls that are live, all and of the organization that wants one more. */
  readonly live: number;
  readonly ofOrganization: number;
  /** Organizations that have numbers. */
  readonly organizations: number;
}

/** Why an organization gets no further call; null: it gets one. */
export type Full = 'capacity' | 'organization_share';

export function fullFor({ maxCalls, live, ofOrganization, organizations }: Room): Full | null {
  const free = maxCalls - live;
  if (free <= 0) return 'capacity';
  if (organizations <= 1 || free > reserveOf(maxCalls)) return null;
  const evenShare = Math.max(1, Math.floor(maxCalls / organizations));
  return ofOrganization < evenShare ? null : 'organization_share';
}

function reserveOf(maxCalls: number): number {
  return Math.max(1, Math.floor(maxCalls * reserved));
}

/** For the call log of an organization that has taken its share. */
export const shareTaken = 'Your calls have taken the share of this edge that one organization gets.';
