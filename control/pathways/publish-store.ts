/** Publishes a version to an environment, in the transaction of a change of the edges' configuration. */

import type { Altered } from '../catalogue/index.ts';
import type { Db, PathwayRow } from '../db/index.ts';
import { updatePathway } from './store.ts';
import { alterLeading } from './transfers-store.ts';

export type Environment = 'production' | 'staging';

/** The version of a pathway in an environment; null: none yet. */
export function versionIn(pathway: PathwayRow, environment: Environment): number | null {
  return environment === 'production' ? pathway.production_version : pathway.staging_version;
}

/** Publishes an existing version. Numbers that follow the environment are republished to the edges. */
export async function publishVersion(
  db: Db,
  altered: Altered,
  pathway: PathwayRow,
  version: number,
  environment: Environment,
): Promise<void> {
  await updatePathway(
    db,
    pathway.id,
    environment === 'production'
      ? { production_version: version, publications: pathway.publications + 1 }
      : { staging_version: version },
  );
  altered.pathways.add(pathway.id);
  await alterLeading(db, altered, pathway.id);
}
