/** Configurations as the API shows them, with the state that the edges have confirmed. */
import type { Configuration } from '#shared/api/sip.ts';
import type { Db, SipConfigurationRow } from '../db/index.ts';
import { versionsOfNumbers } from '../edge-link/index.ts';
import type { TrunkDeps } from './deps.ts';
import { findProbed } from './health-store.ts';
import { findRegistrations } from './registrations-store.ts';
import { inboundSources } from './rules.ts';
import { configurationView } from './views.ts';

export interface NumberConfigurationsView {
  inbound: Configuration | null;
  outbound: Configuration | null;
  configurations: Configuration[];
}

/** @param rows all records of one number, inbound first, then by priority */
export async function numberView(
  services: TrunkDeps,
  db: Db,
  rows: readonly SipConfigurationRow[],
): Promise<NumberConfigurationsView> {
  const numbers = [...new Set(rows.map((row) => row.number))];
  const versions = await versionsOfNumbers(db, numbers);
  const confirmed = services.edges.appliedVersion;
  const sources = inboundSources(rows, services.config.openInbound);
  const ids = rows.map((row) => row.id);
  const probed = await findProbed(db, ids);
  const registrations = await findRegistrations(db, ids);
  const configurations = rows.map((row) => {
    const version = versions.get(row.number);
    const applied = confirmed !== null && version !== undefined && version <= confirmed;
    const lacking = (codecs: readonly string[]) => services.edges.lacking(codecs);
    return configurationView(row, { applied, sources, probed, lacking, registrations });
  });
  const primary = (direction: string) =>
    configurations.find((configuration) => configuration.direction === direction) ?? null;
  return { inbound: primary('inbound'), outbound: primary('outbound'), configurations };
}
