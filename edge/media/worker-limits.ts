/** Times of a media worker, in a file of its own: the main thread of the edge, which has no media, reads them too. */
export interface WorkerLimits {
  /** Time to start, ms */
  readonly startMs: number;
  /** Pause between an answer and the next question, ms */
  readonly lookMs: number;
  /** Time without an answer after which a worker is killed, ms */
  readonly hangMs: number;
  /** Time to end when it is closed, ms */
  readonly stopMs: number;
}

export const workerLimits: WorkerLimits = {
  // It takes 50 ms.
  startMs: 20_000,
  lookMs: 1_000,
  // Its callers hear nothing meanwhile; a worker that is only behind by that much is of no use to them either.
  hangMs: 10_000,
  stopMs: 2_000,
};
