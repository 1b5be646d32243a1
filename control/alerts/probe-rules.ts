/** The recent probes of one endpoint: pure. Stored with each probe, because evaluation rounds may be missed. */
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import { probesOfMean } from './rules.ts';

/** The last probe and its history. Times in ms since 1970. */
export interface ProbeRun {
  readonly checkedAt: number;
  /** Start of the current failures; null after a success. */
  readonly failingSince: number | null;
  /** ms of the last successful probes, oldest first. */
  readonly responseTimes: readonly number[];
}

type Probe = Pick<HealthProbe, 'healthy' | 'response_time_ms'> & { /** ms */ readonly at: number };

/**
 * The run with one more probe; null when the probe is older than the last. After a gap failures start over, because the
 * time in between is unknown.
 */
export function nextRun(before: ProbeRun | null, probe: Probe, gapMs: number): ProbeRun | null {
  if (before && probe.at <= before.checkedAt) return null;
  const { at: checkedAt, healthy, response_time_ms: ms } = probe;
  const known = before?.responseTimes ?? [];
  if (healthy) {
    const responseTimes = ms === null ? known : [...known, ms].slice(-probesOfMean);
    return { checkedAt, failingSince: null, responseTimes };
  }
  const isGap = before !== null && checkedAt - before.checkedAt > gapMs;
  const failingSince = (isGap ? null : before?.failingSince) ?? checkedAt;
  return { checkedAt, failingSince, responseTimes: known };
}
