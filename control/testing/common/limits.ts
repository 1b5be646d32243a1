/** Limits of agent tests. */
export interface TestingLimits {
  /** Runs of all organizations at a time; more wait. */
  readonly concurrent: number;
  /** Of a run; then it ends in ERROR. */
  readonly timeoutMs: number;
  /** How long a run over a call waits for an edge that can place it. */
  readonly edgeMs: number;
  /** How long it waits for an edge that has room for it. */
  readonly roomMs: number;
  /** How long that edge may take to open the socket of the run. */
  readonly socketMs: number;
  /** Open event streams of one organization. */
  readonly streamsPerOrganization: number;
  /** Between heartbeats on a silent stream. */
  readonly heartbeatMs: number;
}

export const testingLimits: TestingLimits = {
  // As many as requests to language models (LLM_CONCURRENCY): most of a run is waiting for one.
  concurrent: 64,
  // The longest scenario has 50 turns of a few seconds, spoken ones up to 10 s.
  timeoutMs: 600_000,
  // An edge restarts and reconnects in less.
  edgeMs: 30_000,
  // As long as the runs before it may take.
  roomMs: 600_000,
  // The edge opens it before the call; a loaded machine needs seconds.
  socketMs: 30_000,
  // A page has one for each run and batch that it shows.
  streamsPerOrganization: 50,
  // Proxies close connections that are silent for 30 to 60 s.
  heartbeatMs: 15_000,
};
