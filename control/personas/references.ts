/** A persona's references, checked when it is written (contract 12). */
import { ApiError } from '#shared/errors.ts';
import { type Db, fromJson } from '../db/index.ts';
import { findPathway, findVersion, resolveVersion } from '../pathways/index.ts';
import { firstUnknownTool } from '../tools/index.ts';
import type { PersonaContent, StoredCondition } from './rules.ts';

/** @throws ApiError TOOL_NOT_FOUND, PATHWAY_NOT_FOUND; INVALID_PARAMETER for an unknown version or node */
export async function checkReferences(db: Db, orgId: string, content: PersonaContent): Promise<void> {
  const unknown = await firstUnknownTool(db, orgId, content.default_tools);
  if (unknown >= 0) throw ApiError.of('TOOL_NOT_FOUND', { path: `/default_tools/${unknown}` });
  for (const [index, condition] of content.pathway_conditions.entries()) {
    await checkCondition(db, orgId, condition, `/pathway_conditions/${index}`);
  }
}

async function checkCondition(
  db: Db,
  orgId: string,
  { pathway_id, pathway_version, start_node_id }: StoredCondition,
  path: string,
): Promise<void> {
  const pathway = await findPathway(db, orgId, pathway_id);
  if (!pathway) throw ApiError.of('PATHWAY_NOT_FOUND', { path: `${path}/pathway_id` });
  const published = { production: pathway.production_version, staging: pathway.staging_version };
  const version = resolveVersion(pathway_version, published);
  const graph = version === 0 ? pathway : await findVersion(db, pathway_id, version);
  if (!graph) throw ApiError.invalid(`${path}/pathway_version`, 'the pathway has no such version');
  const nodes: { id?: unknown }[] = fromJson(graph.nodes);
  if (start_node_id !== null && !nodes.some((node) => node.id === start_node_id)) {
    throw ApiError.invalid(`${path}/start_node_id`, `the pathway has no node "${start_node_id}"`);
  }
}
