/** Limits and times of agents. They are apart from the agents, which the main thread does not load. */

export interface ConsultLimits {
  /** time to press the key after the announcement, ms */
  readonly acceptWithinMs: number;
  /** how often the announcement is repeated */
  readonly repeats: number;
  /** delay between the last word and the join, ms: audio still in the target's jitter buffer */
  readonly tailMs: number;
}

export const consultLimits: ConsultLimits = {
  // A person takes the phone from the ear, looks for the key, and presses it.
  acceptWithinMs: 15_000,
  repeats: 1,
  tailMs: 200,
};

export interface TestCallerLimits {
  /** silence after the agent's words that starts the caller's turn, ms */
  readonly turnEndMs: number;
  /** silence of the agent after which the caller continues, ms: longer than an agent waits for the caller */
  readonly patienceMs: number;
  /** maximum length of the agent's words that are transcribed per turn, seconds */
  readonly maxTurnSeconds: number;
}

export const testCallerLimits: TestCallerLimits = {
  // Longer than the pauses between an agent's sentences.
  turnEndMs: 1_000,
  // An agent waits ten seconds for the caller before it repeats itself.
  patienceMs: 15_000,
  // The longest announcement; it is buffered as samples.
  maxTurnSeconds: 120,
};
