/**
 * Finds out how a system can be reached and what it is (contract 3.1): DNS, then OPTIONS to every port and transport in parallel,
 * then a recommendation. UDP and TCP are only probed; calls use TLS.
 */
import type { BlockList } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import type { DiscoveryAttempt, DiscoveryResult } from '#shared/trunk-protocol.ts';
import type { Dns } from '../dns.ts';
import { bareHost } from '../resolve.ts';
import type { AttemptResult, Candidate, ProbeLimits } from './attempt.ts';
import { candidatesOf, type DiscoveryQuery } from './candidates.ts';
import { userAgentOf } from './capabilities.ts';
import { type HostFacts, type HostLimits, HostRefused, hostFacts } from './host-facts.ts';
import { bestOf, type Probed, recommend } from './recommend.ts';
import { probeTcp, probeTls } from './stream-probe.ts';
import { probeUdp } from './udp-probe.ts';

export interface DiscoveryLimits extends HostLimits, ProbeLimits {
  /** Time limit of the whole discovery, ms. */
  readonly totalMs: number;
}

/** Contract 3.1. */
export const discoveryLimits: DiscoveryLimits = {
  maxAddresses: 4,
  maxSrvTargets: 4,
  maxSrvRecords: 50,
  attemptMs: 4000,
  maxBytes: 65_536,
  totalMs: 20_000,
};

export interface DiscoveryOptions {
  readonly dns: Dns;
  readonly clock: Clock;
  /** Private networks that may be probed. */
  readonly allowed: BlockList;
  /** PEM certificates of the trusted authorities. */
  readonly ca: readonly string[];
  readonly limits: DiscoveryLimits;
  /** Aborts the discovery. */
  readonly signal?: AbortSignal | undefined;
}

type Failure = NonNullable<DiscoveryResult['error']>;

/** Never rejects: errors are in `error`. All sockets are closed when the result is returned. */
export async function discover(query: DiscoveryQuery, options: DiscoveryOptions): Promise<DiscoveryResult> {
  const { clock, limits, signal } = options;
  const end = new AbortController();
  const stop = () => end.abort();
  const deadline = clock.after(limits.totalMs, stop);
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  try {
    const facts = await before(end.signal, hostFacts(query.host, options.dns, options.allowed, limits));
    if (facts === null) return failed({ code: 'DISCOVERY_TIMEOUT', message: 'DNS timed out' });
    return await probeAll({ ...query, host: bareHost(query.host) }, facts, options, end.signal);
  } catch (error) {
    if (error instanceof HostRefused) return failed({ code: error.code, message: error.message });
    return failed({
      code: 'INTERNAL_ERROR',
      message: error instanceof Error ? error.message : String(error),
    });
  } finally {
    deadline.cancel();
    signal?.removeEventListener('abort', stop);
  }
}

async function probeAll(
  query: DiscoveryQuery,
  facts: HostFacts,
  options: DiscoveryOptions,
  signal: AbortSignal,
): Promise<DiscoveryResult> {
  const candidates = candidatesOf(query, facts.addresses, facts.srvTargets);
  const probed = await Promise.all(
    candidates.map(async (candidate) => ({ candidate, result: await probe(candidate, options, signal) })),
  );
  const found = {
    resolved_addresses: [...new Set([...facts.addresses, ...facts.srvTargets.map(({ address }) => address)])],
    srv_records: facts.srvRecords,
    attempts: probed.map(reported),
    tls: null,
  };
  if (signal.aborted) {
    return { ...failed({ code: 'DISCOVERY_TIMEOUT', message: 'the discovery was aborted' }), ...found };
  }
  const best = bestOf(probed);
  return {
    status: 'completed',
    error: null,
    ...found,
    recommended: best && recommend(best),
    tls: best?.result.tls ?? probed.find(({ result }) => result.tls)?.result.tls ?? null,
  };
}

function probe(candidate: Candidate, options: DiscoveryOptions, signal: AbortSignal): Promise<AttemptResult> {
  const { limits, ca } = options;
  switch (candidate.transport) {
    case 'udp':
      return probeUdp(candidate, limits, signal);
    case 'tcp':
      return probeTcp(candidate, limits, signal);
    case 'tls':
      return probeTls(candidate, limits, signal, ca);
  }
}

function reported({ candidate, result }: Probed): DiscoveryAttempt {
  const { address, port, transport } = candidate;
  const { response, responseTimeMs, error, message } = result;
  return {
    address,
    port,
    transport,
    response_time_ms: responseTimeMs,
    response_code: response?.status ?? null,
    user_agent: response && userAgentOf(response),
    error,
    ...(message !== null && { message }),
  };
}

function failed(error: Failure): DiscoveryResult {
  return {
    status: 'failed',
    error,
    resolved_addresses: [],
    srv_records: [],
    attempts: [],
    recommended: null,
    tls: null,
  };
}

/** The value, or null when `signal` is aborted first. */
async function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T | null> {
  const { promise, resolve, reject } = Promise.withResolvers<T | null>();
  const stop = () => resolve(null);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  work.then(resolve, reject);
  return promise.finally(() => signal.removeEventListener('abort', stop));
}
