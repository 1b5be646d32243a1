/** Resolves the Transfer Pathway nodes of a graph to versions, and finds what must be republished when that changes. */
import type { Altered } from '../catalogue/index.ts';
import type { Db } from '../db/index.ts';
import { graphsLeadingTo, numbersLeadingTo } from './references-store.ts';
import { type OpenObject, resolveVersion, transferOf, withTransferVersion } from './rules.ts';
import { findPathway } from './store.ts';

/** Nodes as agents receive them: those that continue in production or staging have the number of that version. */
export function withTransferVersions(
  db: Db,
  orgId: string,
  nodes: readonly OpenObject[],
): Promise<OpenObject[]> {
  return Promise.all(
    nodes.map(async (node) => {
      const transfer = transferOf(node);
      if (transfer?.version !== 'production' && transfer?.version !== 'staging') return node;
      const pathway = await findPathway(db, orgId, transfer.pathwayId);
      if (!pathway) return node;
      const published = { production: pathway.production_version, staging: pathway.staging_version };
      return withTransferVersion(node, resolveVersion(transfer.version, published));
    }),
  );
}

/** Another version of a pathway is in force: the edges' numbers and graphs that lead to it are published again. */
export async function alterLeading(db: Db, altered: Altered, pathwayId: string): Promise<void> {
  for (const number of await numbersLeadingTo(db, pathwayId)) altered.numbers.add(number);
  for (const id of await graphsLeadingTo(db, pathwayId)) altered.pathways.add(id);
}
