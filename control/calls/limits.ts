/** When calls that no edge reports are closed. */
export interface CallLimits {
  /** Time without a connection of an edge after which its calls are closed with `edge_lost`. */
  readonly edgeLostMs: number;
  /** Time after which a call that no edge reports is closed with `edge_unavailable`. */
  readonly queuedMs: number;
}

export const callLimits: CallLimits = {
  // An edge restarts or gets a new link in less; calls continue meanwhile, and must not be closed.
  edgeLostMs: 900_000,
  // Longer than the commands that place a call; the client waits for the outcome.
  queuedMs: 60_000,
};
