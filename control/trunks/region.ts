/** The region that an outbound call should leave from. */
import { type Db, fromJson, type SipConfigurationRow } from '../db/index.ts';
import type { RegionWish } from '../edge-link/index.ts';
import { findOrganization } from '../organizations/index.ts';

interface RegionConfig {
  /** Null: that of the organization. */
  readonly region: string | null;
  readonly strict: boolean;
}

export function regionOf({ region_config }: Pick<SipConfigurationRow, 'region_config'>): RegionConfig {
  return region_config === null ? { region: null, strict: false } : fromJson(region_config);
}

export async function regionWish(
  db: Db,
  row: Pick<SipConfigurationRow, 'org_id' | 'region_config'>,
): Promise<RegionWish> {
  const { region, strict } = regionOf(row);
  return { region: region ?? (await findOrganization(db, row.org_id)).region, strict };
}
