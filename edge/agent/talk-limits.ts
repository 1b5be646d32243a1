export interface TalkLimits {
  /** time without input after the last word before the conversation gets a silence event, ms */
  readonly listenMs: number;
  /** how often a node, or a persona's question, is repeated before the call ends */
  readonly repeats: number;
  /** time for the peer to start speaking when the agent lets it speak first, ms */
  readonly greetingMs: number;
  /** delay between the last word and the end of the call, ms: audio still in the peer's jitter buffer */
  readonly tailMs: number;
  /** maximum speech queued for playback, seconds */
  readonly maxQueuedSeconds: number;
}

export const talkLimits: TalkLimits = {
  listenMs: 10_000,
  repeats: 2,
  greetingMs: 5000,
  tailMs: 200,
  maxQueuedSeconds: 600,
};
