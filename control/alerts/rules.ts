/**
 * When an alert of a configuration is raised and resolved: pure (contract 3.5).
 *
 *              over                        under, as often in a row as the kind requires
 *     quiet ---------> open (calm 0) --------------------------------> resolved
 *                        ^    | under
 *       over or unknown  |    v
 *                      open (calm 1)
 */
import type { Endpoint } from '#shared/trunk-protocol.ts';
import type { AlertRow } from '../db/index.ts';
import type { AlertConfig } from '../trunks/index.ts';

export type AlertKind = AlertRow['kind'];
/** Those of configurations, which are evaluated here. */
export type TrunkAlertKind = Exclude<AlertKind, 'watch_drift'>;

/** Metrics of alerts. */
export interface AlertMetrics {
  /** One attempt to deliver a notice. */
  notice(channel: 'email' | 'sms', outcome: 'delivered' | 'again' | 'given_up'): void;
  /** One attempt to deliver an alert to the operator. */
  operator(channel: 'email' | 'webhook', outcome: 'delivered' | 'again' | 'given_up'): void;
  /** One evaluation, and the alerts open after it. */
  evaluated(ms: number, open: ReadonlyMap<AlertKind, number>): void;
}

/** Fewer ended calls are not enough to rate a trunk. */
const leastCalls = 5;
/** The response time is the mean of this many successful probes. */
export const probesOfMean = 5;

/** Normal evaluations in a row that resolve an alert. */
const calmNeeded: Readonly<Record<TrunkAlertKind, number>> = {
  unreachable: 1,
  failure_rate: 2,
  response_time: 2,
  certificate_expiring: 1,
};

/** All kinds. */
export const alertKinds: readonly AlertKind[] = [
  ...(Object.keys(calmNeeded) as TrunkAlertKind[]),
  'watch_drift',
];

const dayMs = 24 * 60 * 60_000;
/** Time to renew a certificate, days; of a short-lived one the last third of its life, as edges warn of their own. */
const expiresSoonDays = 14;

/** Whether a trunk can be reached; unknown while probes are missing. */
export type Reachability =
  | { readonly state: 'healthy' | 'unknown' }
  | { readonly state: 'unreachable' /** ms since 1970 */; readonly since: number };

/** What is known about a configuration at its evaluation. */
export interface TrunkFacts {
  readonly direction: 'inbound' | 'outbound';
  readonly reachability: Reachability;
  /** Calls that ended in the window of the failure rate. */
  readonly calls: { readonly ended: number; readonly failed: number };
  /** ms of the last successful probes of the endpoint that calls try first; null while unknown. */
  readonly responseTimes: readonly number[] | null;
  /** Of the usable endpoints, the certificate that expires first. Times in ms since 1970. */
  readonly certificate: { readonly validFrom: number; readonly expiresAt: number } | null;
}

/** One measured kind of alert. */
export interface Reading {
  readonly kind: TrunkAlertKind;
  /** `unknown` neither raises nor resolves. */
  readonly state: 'over' | 'under' | 'unknown';
  /** Minutes, percent, ms or days, like the threshold. */
  readonly value: number;
  readonly threshold: number;
  readonly windowMinutes: number | null;
}

/** Measures every kind that applies to the direction. @param now ms */
export function readings(
  facts: TrunkFacts,
  thresholds: AlertConfig['thresholds'],
  now: number,
): readonly Reading[] {
  const rate = failureRate(facts, thresholds);
  if (facts.direction === 'inbound') return [rate];
  return [
    unreachable(facts, thresholds, now),
    rate,
    responseTime(facts, thresholds),
    certificateExpiring(facts, now),
  ];
}

function unreachable(
  { reachability }: TrunkFacts,
  { unreachable_minutes: threshold }: AlertConfig['thresholds'],
  now: number,
): Reading {
  const reading = { kind: 'unreachable', threshold, windowMinutes: null } as const;
  if (reachability.state === 'healthy') return { ...reading, state: 'under', value: 0 };
  if (!('since' in reachability)) return { ...reading, state: 'unknown', value: 0 };
  const minutes = Math.max(0, now - reachability.since) / 60_000;
  // Unreachable for less than the threshold does not end an earlier alert; only a healthy trunk does.
  return { ...reading, state: minutes >= threshold ? 'over' : 'unknown', value: rounded(minutes) };
}

function failureRate({ calls }: TrunkFacts, thresholds: AlertConfig['thresholds']): Reading {
  const { failure_rate_percent: threshold, failure_rate_window_minutes: windowMinutes } = thresholds;
  const percent = calls.ended === 0 ? 0 : (calls.failed / calls.ended) * 100;
  const isOver = calls.ended >= leastCalls && percent >= threshold;
  return {
    kind: 'failure_rate',
    state: isOver ? 'over' : 'under',
    value: rounded(percent),
    threshold,
    windowMinutes,
  };
}

function responseTime(
  { responseTimes }: TrunkFacts,
  { response_time_ms: threshold }: AlertConfig['thresholds'],
): Reading {
  const reading = { kind: 'response_time', threshold, windowMinutes: null } as const;
  const last = responseTimes?.slice(-probesOfMean) ?? [];
  if (last.length < probesOfMean) return { ...reading, state: 'unknown', value: 0 };
  const mean = last.reduce((sum, ms) => sum + ms, 0) / last.length;
  return { ...reading, state: mean > threshold ? 'over' : 'under', value: rounded(mean) };
}

function certificateExpiring({ certificate }: TrunkFacts, now: number): Reading {
  const reading = { kind: 'certificate_expiring', windowMinutes: null } as const;
  if (certificate === null) return { ...reading, state: 'unknown', value: 0, threshold: expiresSoonDays };
  const { validFrom, expiresAt } = certificate;
  const left = (expiresAt - now) / dayMs;
  const threshold = Math.min(expiresSoonDays, (expiresAt - validFrom) / 3 / dayMs);
  return {
    ...reading,
    state: left <= threshold ? 'over' : 'under',
    value: rounded(left),
    threshold: rounded(threshold),
  };
}

/** Percentages and the like are shown with 2 decimals (contract 1.5); comparisons use the exact value. */
function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

export type Move =
  | { readonly to: 'same' | 'raised' | 'resolved' }
  | { readonly to: 'calm'; readonly calm: number };

/** The effect of a reading on the open alert of its kind, if any. */
export function move({ kind, state }: Reading, open: { readonly calm: number } | undefined): Move {
  if (!open) return { to: state === 'over' ? 'raised' : 'same' };
  const calm = state === 'under' ? open.calm + 1 : 0;
  if (calm >= calmNeeded[kind]) return { to: 'resolved' };
  return calm === open.calm ? { to: 'same' } : { to: 'calm', calm };
}

/** The last probe of an endpoint, with the failures before it. Times in ms since 1970. */
export interface ProbedEndpoint {
  readonly host: string;
  readonly port: number;
  readonly checkedAt: number;
  readonly healthy: boolean;
  readonly failingSince: number | null;
}

/**
 * A trunk is reachable when one of its endpoints is. It is unreachable since the last of them began to fail.
 * @param usable endpoints that a call may use
 * @param gapMs an older probe says nothing about now
 */
export function reachability(
  usable: readonly Pick<Endpoint, 'host' | 'port'>[],
  probed: readonly ProbedEndpoint[],
  now: number,
  gapMs: number,
): Reachability {
  const recent = probed.filter(
    (probe) =>
      now - probe.checkedAt <= gapMs &&
      usable.some(({ host, port }) => host === probe.host && port === probe.port),
  );
  if (recent.length === 0) return { state: 'unknown' };
  if (recent.some((probe) => probe.healthy)) return { state: 'healthy' };
  return { state: 'unreachable', since: Math.max(...recent.map((p) => p.failingSince ?? p.checkedAt)) };
}
