/** The times of a call's set-up, ms. */
export interface CallTimes {
  /** 180 is sent when the answer takes longer than this. */
  readonly ringAfterMs: number;
  /** Time an agent may take to get ready before the call is answered 480. */
  readonly prepareTimeoutMs: number;
  /** Time for one outgoing attempt without an answer, after 180 or only a 100, before it is canceled. */
  readonly ringTimeoutMs: number;
}

export const callTimes: CallTimes = {
  // Most agents are ready sooner: their callers hear no ringing tone at all.
  ringAfterMs: 200,
  // A caller hears ringing meanwhile; a model or stream that takes longer has failed.
  prepareTimeoutMs: 10_000,
  // Networks send calls to voicemail or give up before this.
  ringTimeoutMs: 60_000,
};
