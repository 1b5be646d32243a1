/** How many conferences there may be. */
export interface ConferenceLimits {
  /** Calls in one: more people than that do not talk, and each one costs as much as a transcoded call. */
  readonly maxParties: number;
  /** Open on this edge at once: of an organization, and of all. */
  readonly mostOfOrganization: number;
  readonly mostOfEdge: number;
}

export const conferenceLimits: ConferenceLimits = {
  maxParties: 8,
  mostOfOrganization: 20,
  // Mixing for eight takes at most 0.18 % of a core, so all of them take less than a fifth of one.
  mostOfEdge: 100,
};
