/** Which bindings the configuration wants, and which records share one. Pure. */
import type { NumberConfig } from '#shared/edge-protocol/numbers.ts';
import { isSameHost, plainHost } from '#shared/networks.ts';
import type { Registrar } from './register-request.ts';

export type RegisteringNumber = Pick<NumberConfig, 'inbound' | 'org_id'>;

export interface Wanted {
  readonly orgId: string;
  readonly registrar: Registrar;
  readonly changedAt: string | null;
}

/** The registrars of the registering records, by record. */
export function wantedBy(numbers: readonly RegisteringNumber[]): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  const records = numbers.flatMap(({ org_id, inbound }) =>
    inbound.map((record) => ({ ...record, orgId: org_id })),
  );
  for (const { id, auth_mode, orgId, registration } of records) {
    if (auth_mode !== 'register' || !registration) continue;
    const { host, port, username, password, expires_s, changed_at = null } = registration;
    const registrar = { host, port, username, password, expiresS: expires_s };
    wanted.set(id, { registrar, changedAt: changed_at, orgId });
  }
  return wanted;
}

/** When the records of each binding were last changed, by the binding's key. */
export function marksOf(wanted: ReadonlyMap<string, Wanted>): Map<string, string> {
  const byKey = Map.groupBy(wanted, ([, { registrar }]) => keyOf(registrar));
  return new Map(
    [...byKey].map(([key, records]) => [
      key,
      JSON.stringify(records.map(([trunkId, { changedAt }]) => [trunkId, changedAt]).toSorted()),
    ]),
  );
}

/** A previously unknown time means nothing: the control plane has just started to report it. */
export function isLater(changedAt: string | null, before: string | null | undefined): boolean {
  return changedAt !== null && before !== null && before !== undefined && changedAt !== before;
}

export function keyOf({ host, port, username, password, expiresS }: Registrar): string {
  return JSON.stringify([plainHost(host), port, username, password, expiresS]);
}

export function isSameUser(one: Registrar, other: Registrar): boolean {
  return isSameHost(one.host, other.host) && one.port === other.port && one.username === other.username;
}
