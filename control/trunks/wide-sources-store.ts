/**
 * Very wide networks in `allowed_ips`: any host in one may call the number, at the organization's cost, so the operator
 * has to permit them. Those stored before this rule keep working.
 */
import { ApiError } from '#shared/errors.ts';
import { isWide } from '#shared/networks.ts';
import { type Db, fromJson, type SipConfigurationRow } from '../db/index.ts';
import { findOrganization } from '../organizations/index.ts';
import type { DirectionEntry } from './directions.ts';
import { listAllowedSources } from './store.ts';

/** The very wide networks of a record. */
function wideSources({ allowed_ips }: Pick<SipConfigurationRow, 'allowed_ips'>): string[] {
  const entries: string[] = allowed_ips === null ? [] : fromJson(allowed_ips);
  return entries.filter(isWide);
}

/**
 * Call it in the transaction that writes.
 * @param stored the number's current records; networks already listed need no new permission
 * @throws ApiError INVALID_PARAMETER naming the first network that needs the operator's permission
 */
export async function checkWideSources(
  db: Db,
  orgId: string,
  stored: readonly Pick<SipConfigurationRow, 'allowed_ips'>[],
  entries: readonly DirectionEntry[],
): Promise<void> {
  const had = new Set(stored.flatMap(wideSources));
  const [added] = entries.flatMap(({ given, path }) => {
    const listed = given.type === 'inbound' ? (given.options?.allowed_ips ?? []) : [];
    return listed.flatMap((network, index) =>
      isWide(network) && !had.has(network) ? [`${path}/options/allowed_ips/${index}`] : [],
    );
  });
  if (added === undefined || (await findOrganization(db, orgId)).wide_sources === 1) return;
  throw ApiError.invalid(
    added,
    'is wider than /16 (IPv4) or /32 (IPv6): list the networks that you really use, or ask the operator of this service to permit it',
  );
}

type WideNumber = {
  readonly org_id: string;
  readonly number: string;
  readonly networks: string;
  readonly permitted: boolean;
};

/** Every number that lists a very wide network, permitted or from before permission was required. */
export async function listWideNumbers(db: Db): Promise<WideNumber[]> {
  const rows = await listAllowedSources(db);
  return rows.flatMap(({ wide_sources, org_id, number, allowed_ips }) => {
    const networks = wideSources({ allowed_ips });
    if (networks.length === 0) return [];
    return [{ org_id, number, networks: networks.join(', '), permitted: wide_sources === 1 }];
  });
}
