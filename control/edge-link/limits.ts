/** Limits of the link to edges. */
export interface EdgeLinkLimits {
  /** Time for an edge to answer a command. */
  readonly commandTimeoutMs: number;
  /** Octets of a frame from an edge. */
  readonly frameBytes: number;
}

export const edgeLinkLimits: EdgeLinkLimits = {
  // An edge answers within milliseconds; the client of the API waits for it.
  commandTimeoutMs: 5_000,
  // Edges split their reports below it: see `edge/reporting/reporting.ts`.
  frameBytes: 16_777_216,
};
