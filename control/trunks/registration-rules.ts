/** Which records of a number the edges register, and where. Pure. */
import type { InboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { parseSipDestination } from '#shared/sip-destination.ts';
import type { Endpoint } from '#shared/trunk-protocol.ts';
import type { SipConfigurationRow } from '../db/index.ts';
import { configuredEndpoints } from './config-rules.ts';

/** The records of a number that an edge can register, in order. */
export function registeringRecords(rows: readonly SipConfigurationRow[]): SipConfigurationRow[] {
  const primary = primaryEndpoint(rows);
  return rows.filter((row) => row.direction === 'inbound' && registrationOf(row, primary) !== null);
}

/** The first endpoint of a number's outbound calls. */
export function primaryEndpoint(configurations: readonly SipConfigurationRow[]): Endpoint | null {
  const outbound = configurations.filter((row) => row.direction === 'outbound');
  const [primary] = outbound.sort((one, other) => one.priority - other.priority);
  return (primary && configuredEndpoints(primary)[0]) ?? null;
}

/** Seconds requested for a binding (contract 2.3). */
const registrationS = 300;

/**
 * Where the edge registers for a record: at its own endpoint, else at `primary`; null when it does not register. The
 * password is the sealed, stored one; `openTrunks` derives the real one when it is sent to an edge.
 */
export function registrationOf(
  row: SipConfigurationRow,
  primary: Endpoint | null,
): NonNullable<InboundTrunk['registration']> | null {
  const { username, password } = row;
  const host = hostOf(row);
  const place = host === null ? primary : { host, port: row.port };
  if (row.auth_mode !== 'register' || username === null || password === null || !place) return null;
  const changed_at = row.updated_at;
  return { host: place.host, port: place.port, username, password, expires_s: registrationS, changed_at };
}

/** The host of a record's own endpoint; null if it has none. */
export function hostOf(row: SipConfigurationRow): string | null {
  return row.sip_endpoint === null ? null : (parseSipDestination(row.sip_endpoint)?.host ?? null);
}
