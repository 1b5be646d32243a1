export interface OutboxOptions {
  /** Maximum number of reports. Above it traces and transcripts are dropped; call records are always accepted. */
  readonly maxReports?: number;
  /** Maximum octets of reports held in memory while the disk fails. */
  readonly heldBytes?: number;
  /** Octets after which the next segment of the journal begins. */
  readonly segmentBytes?: number;
  /** The outbox has closed its files. */
  readonly closed?: () => void;
}
