/** Pathways and versions as the API shows them (contract 11.3). */
import type { Pathway } from '#shared/api/pathways.ts';
import { fromJson, type PathwayRow, type PathwayVersionRow } from '../db/index.ts';
import type { VersionLine } from './store.ts';

export function pathwayView(row: PathwayRow): Pathway {
  return {
    pathway_id: row.id,
    name: row.name,
    description: row.description,
    nodes: fromJson(row.nodes),
    edges: fromJson(row.edges),
    production_version: row.production_version,
    staging_version: row.staging_version,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** @param latest the highest version number */
export function versionLine(pathway: PathwayRow, version: VersionLine, latest: number) {
  const { version_number, name, created_at, content_hash } = version;
  const environments = [
    ...(pathway.production_version === version_number ? ['production'] : []),
    ...(pathway.staging_version === version_number ? ['staging'] : []),
  ];
  const is_latest = version_number === latest;
  return { id: version_number, version_number, name, created_at, is_latest, environments, content_hash };
}

export function graphView(
  graph: Pick<PathwayVersionRow, 'name' | 'nodes' | 'edges' | 'version_number' | 'content_hash'>,
  latest: number,
) {
  const { name, nodes, edges, version_number, content_hash } = graph;
  return {
    name,
    nodes: fromJson(nodes),
    edges: fromJson(edges),
    version_number,
    is_latest: version_number === latest,
    content_hash,
  };
}
