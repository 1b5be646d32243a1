/** Times of alerts. */
export interface AlertLimits {
  readonly evaluationMs: number;
  /** Of one attempt to send a mail or an SMS. */
  readonly sendTimeoutMs: number;
}

export const alertLimits: AlertLimits = {
  // The shortest window of an alert is five minutes: it is evaluated several times within it.
  evaluationMs: 60_000,
  // Mail servers delay answers by greylisting and look-ups; a failed attempt is repeated.
  sendTimeoutMs: 15_000,
};
