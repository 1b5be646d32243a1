/** Limits of webhooks. */
export interface WebhookLimits {
  /** Of one attempt. */
  readonly timeoutMs: number;
}

export const webhookLimits: WebhookLimits = {
  // Receivers are asked to store the event and answer at once; a slow one would hold up its others.
  timeoutMs: 10_000,
};
