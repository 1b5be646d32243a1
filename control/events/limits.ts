/** Limits of the events of organizations. */
export interface EventLimits {
  /** Streams of an organization that are open. */
  readonly perOrganization: number;
  /** The same of one API key. */
  readonly perKey: number;
  /** Between heartbeats on a silent stream; a stream that is not read for three times as long is closed. */
  readonly heartbeatMs: number;
  /** How long events are stored, and how long after the last reader any are. */
  readonly windowMs: number;
  /** Events stored of an organization. */
  readonly mostEvents: number;
  /** Octets of them. */
  readonly mostOctets: number;
  /** Octets of one event; of a larger one only its type and subject are sent. */
  readonly mostEventOctets: number;
  /** Octets that a stream reads at once. */
  readonly pageOctets: number;
  /** Calls of which the newest quality sample waits for a slow reader. */
  readonly mostPassing: number;
  /** Interval of looks for new events while streams are open; those of this replica are known at once. */
  readonly lookMs: number;
  /** Interval at which events that are too old are deleted, and windows end. */
  readonly sweepMs: number;
}

export const eventLimits: EventLimits = {
  // A support desk with a page open for each person.
  perOrganization: 100,
  // One person's tabs, or a program's few connections.
  perKey: 20,
  // Proxies close connections that are silent for 30 to 60 s.
  heartbeatMs: 15_000,
  // A laptop that slept over a meeting, or a program that was deployed.
  windowMs: 60 * 60 * 1000,
  // An hour of an organization with 5 calls per second, of which each has some ten events.
  mostEvents: 200_000,
  // 64 MiB: a disk of 20 GiB holds the windows of 300 organizations that all fill theirs.
  mostOctets: 67_108_864,
  // A call's line in the log has less than 2 KiB; a discovery with many addresses some ten.
  mostEventOctets: 16_384,
  // Of several events; what a slow reader costs in memory.
  pageOctets: 262_144,
  // The calls of a busy organization, whose samples may come in one frame; readers share their text.
  mostPassing: 2_000,
  // Faster than people notice; one small query.
  lookMs: 250,
  sweepMs: 30_000,
};
