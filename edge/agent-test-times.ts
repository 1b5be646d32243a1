/** Times of test runs over a call. */
import type { TestCallerLimits } from './agent/limits.ts';

/** Times in ms. */
export interface AgentTestLimits {
  readonly caller: TestCallerLimits;
  /** Time for the agent to get ready, until the call is answered or rejected. */
  readonly ringMs: number;
  /** Time after one end is over for the other end to report it. */
  readonly otherEndMs: number;
  /** For the run's socket: time to open, and ping interval. */
  readonly socketMs: number;
}

export const agentTestTimes: Omit<AgentTestLimits, 'caller'> = {
  // As long as other calls.
  ringMs: 60_000,
  // Both ends are on this edge; only the last report is still on its way.
  otherEndMs: 3_000,
  // Control is near, and waits for the socket.
  socketMs: 5_000,
};
