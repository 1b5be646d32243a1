/** Limits of messages that are stored nowhere. */
export interface TransientLimits {
  /** Octets of one notification. */
  readonly mostPayloadBytes: number;
  /** Messages that wait to be sent. */
  readonly mostUnsent: number;
}

/** Limits of what replicas tell each other. */
export interface ReplicaLimits {
  /** Octets of one message. */
  readonly mostMessageBytes: number;
  /** Stored messages. */
  readonly mostMessages: number;
  /** How long messages are stored. */
  readonly keptMs: number;
  /** Messages that wait to be stored, of those that are not part of a transaction. */
  readonly mostWaiting: number;
  /** Interval of looks for messages that no notification announced. */
  readonly lookMs: number;
  readonly transient: TransientLimits;
}

export const replicaLimits: ReplicaLimits = {
  // Orders of calls are the largest messages: the API takes up to 1 MiB of JSON.
  mostMessageBytes: 2_097_152,
  // A minute of 1,000 commands per second with their answers.
  mostMessages: 120_000,
  keptMs: 60_000,
  mostWaiting: 10_000,
  // As often as the command line was looked for before there were messages.
  lookMs: 500,
  transient: {
    // PostgreSQL takes less than 8,000.
    mostPayloadBytes: 7_900,
    // Some seconds of a busy replica while the server is slow.
    mostUnsent: 5_000,
  },
};
