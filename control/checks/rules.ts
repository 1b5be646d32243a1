/** Requests and states of discoveries and test calls: pure functions (contract 3.1 and 3.2). */
import { isIPv6 } from 'node:net';
import type { DiscoveryRequest, DiscoveryView } from '#shared/api/trunk-checks.ts';
import { toE164 } from '#shared/e164.ts';
import type { TestCallState } from '#shared/edge-protocol/reports.ts';
import { ApiError } from '#shared/errors.ts';
import { plainAddress } from '#shared/networks.ts';
import { parseSipDestination, type SipTransport } from '#shared/sip-destination.ts';
import type { DiscoveryResult } from '#shared/trunk-protocol.ts';
import { type DiscoveryRow, fromJson, type TestCallRow } from '../db/index.ts';

/** A discovery ends after 20 s; after this time no report is expected. */
const discoveryLimitMs = 30_000;
/** Longest time between two reports of a test call: ringing, and the call itself. */
const testCallLimitMs = 180_000;

export interface DiscoveryTarget {
  readonly host: string;
  readonly port: number | null;
  readonly transport: SipTransport | null;
}

/** @throws ApiError INVALID_PARAMETER */
export function discoveryTarget(request: DiscoveryRequest): DiscoveryTarget {
  const text = request.host.trim();
  const stated = isIPv6(text) ? { host: plainAddress(text) } : parseSipDestination(text);
  if (!stated) throw ApiError.invalid('/host', 'must be a host, an address or a SIP URI');
  const inHost = { port: undefined, transport: undefined, ...stated };
  for (const name of ['port', 'transport'] as const) {
    if (inHost[name] !== undefined && request[name] !== undefined && inHost[name] !== request[name]) {
      throw ApiError.invalid(`/${name}`, `must equal the ${name} in host`);
    }
  }
  return {
    host: stated.host,
    port: inHost.port ?? request.port ?? null,
    transport: inHost.transport ?? request.transport ?? null,
  };
}

export const unknownYet: DiscoveryResult = {
  status: 'running',
  error: null,
  resolved_addresses: [],
  srv_records: [],
  attempts: [],
  recommended: null,
  tls: null,
};

/** @param now ms; a discovery without reports for too long has failed */
export function discoveryView(row: DiscoveryRow, now: number): DiscoveryView {
  const result: DiscoveryResult = fromJson(row.result);
  const { id: discovery_id, host, started_at, completed_at } = row;
  const limit = Date.parse(started_at) + discoveryLimitMs;
  if (completed_at !== null || now < limit)
    return { discovery_id, host, ...result, started_at, completed_at };
  return {
    discovery_id,
    host,
    ...result,
    status: 'failed',
    error: { code: 'DISCOVERY_TIMEOUT', message: 'The edge did not report the end of the discovery.' },
    started_at,
    completed_at: new Date(limit).toISOString(),
  };
}

/** A number with a plus is E.164; anything else is dialed unchanged. @throws ApiError INVALID_PARAMETER */
export function dialledUser(text: string): string {
  const trimmed = text.trim();
  const number = trimmed.startsWith('+') ? toE164(trimmed) : null;
  if (number !== null) return number;
  if (/^[0-9A-Za-z*#._-]+$/.test(trimmed)) return trimmed;
  throw ApiError.invalid('/to', 'must be a number or an extension');
}

/** @param now ms; a test call without reports for too long has failed */
export function testCallState(row: TestCallRow, now: number): TestCallState {
  const state: TestCallState = fromJson(row.state);
  const silent = state.result === 'pending' && now >= Date.parse(row.updated_at) + testCallLimitMs;
  if (!silent) return state;
  return failedTestCall(state, 'EDGE_LOST', 'The edge that made the test call did not report its end.');
}

/** @param diagnosis what is wrong, one sentence */
export function failedTestCall(state: TestCallState, error: string, diagnosis: string): TestCallState {
  return { ...state, status: 'failed', result: 'failed', error, diagnosis };
}
