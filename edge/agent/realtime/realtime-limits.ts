/** The times and sizes of a realtime agent. */
import type { ModelLinkLimits } from './model-link.ts';

export interface RealtimeLimits extends ModelLinkLimits {
  /** age of a session at which it is renewed in the next pause, ms; servers end it after 60 minutes */
  readonly renewAfterMs: number;
  /** and without waiting for a pause */
  readonly renewLatestMs: number;
  /** answers queued for playback, seconds */
  readonly maxQueuedSeconds: number;
  /** pause after which key presses are one entry, ms */
  readonly keyPauseMs: number;
  /** delay between the last word and the end of the call, ms: audio still in the peer's jitter buffer */
  readonly tailMs: number;
}

export const realtimeLimits: RealtimeLimits = {
  openTimeoutMs: 5000,
  reconnectForMs: 8000,
  firstRetryMs: 250,
  beginsWithinMs: 10_000,
  // About a second of PCM at 24 kHz as base64.
  maxUnreadBytes: 65_536,
  // The conversation so far is 240,000 characters at most; a tool's result 8000.
  maxUntoldBytes: 1_048_576,
  youngestMs: 60_000,
  renewAfterMs: 55 * 60_000,
  renewLatestMs: 59 * 60_000,
  maxQueuedSeconds: 180,
  keyPauseMs: 1500,
  tailMs: 200,
};

/** Calls of tools that run at a time, and of a call in all. */
export const mostAtOnce = 8;
export const mostCalls = 1000;
/** Characters of a tool's data that the model gets, as JSON. */
export const longestData = 8000;
