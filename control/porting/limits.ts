/** Limits of number porting. */
export interface PortingLimits {
  /** Countries whose numbers are ported, two upper-case letters each. */
  readonly countries: readonly string[];
  /** Between two status requests to the carrier about an order. */
  readonly pollMs: number;
  /** Of one request to the carrier. */
  readonly carrierTimeoutMs: number;
  readonly scanTimeoutMs: number;
  /** Document uploads at a time. */
  readonly uploadsAtOnce: number;
  /** Documents of an organization that no port request uses. */
  readonly unusedDocuments: number;
}

export const portingLimits: PortingLimits = {
  // Those whose forms and rules the program knows.
  countries: ['US', 'CA', 'PR', 'GB'],
  // Ports take days; carriers limit how often they are asked. Their webhook is faster.
  pollMs: 900_000,
  // A carrier that takes longer is asked again later.
  carrierTimeoutMs: 15_000,
  // clamd needs a few seconds for the largest document; the uploader waits for it.
  scanTimeoutMs: 30_000,
  // Each holds a document of 10 MiB in memory.
  uploadsAtOnce: 8,
  // A port request needs a handful; without a limit, uploads would fill the disk.
  unusedDocuments: 100,
};
