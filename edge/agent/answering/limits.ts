/** Times of the detection of who answered. They are apart from it, because the main thread does not load agents. */

export interface AnsweringLimits {
  /** time after the answer without a decision before the result is `unknown`, ms */
  readonly watchMs: number;
  /** greeting length without a pause treated as voicemail, ms: a person would have said hello and paused */
  readonly greetingMs: number;
  /** greeting length unusual for a person, ms */
  readonly suspectMs: number;
  /** silence after the greeting treated as a person waiting, ms: a recording pauses for less */
  readonly pauseMs: number;
  /** the same after a long greeting: voicemail often takes a while to beep */
  readonly suspectPauseMs: number;
  /** silence after which voicemail without a beep counts as recording, ms */
  readonly silenceMs: number;
  /** time after the decision when voicemail counts as recording whatever it sends, ms */
  readonly patienceMs: number;
}

export const answeringLimits: AnsweringLimits = {
  watchMs: 20_000,
  greetingMs: 10_000,
  suspectMs: 4000,
  pauseMs: 1200,
  suspectPauseMs: 3000,
  silenceMs: 3000,
  patienceMs: 60_000,
};
