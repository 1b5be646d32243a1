/** Limits of requests to language models. */
export interface ModelLimits {
  /** Until an answer begins, retries included, and then between two parts of it. */
  readonly timeoutMs: number;
  /** After a network error, 408, 425, 429 or 5xx. */
  readonly maxRetries: number;
  readonly maxTokens: number;
}

export const modelLimits: ModelLimits = {
  // A caller who hears nothing for longer hangs up; the rules answer instead.
  timeoutMs: 10_000,
  // More do not fit into the timeout.
  maxRetries: 2,
  // An answer is spoken: this is several minutes of speech.
  maxTokens: 1024,
};
