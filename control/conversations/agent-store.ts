/** Loads the agent of a text conversation from the database. */
import { toolIdsIn } from '#shared/agent/node-tools.ts';
import { ApiError } from '#shared/errors.ts';
import { type Db, fromJson, toJson } from '../db/index.ts';
import type { NumberSettings } from '../numbers/index.ts';
import {
  findPathway,
  findVersion,
  resolveVersion,
  transferReferences,
  withTransferVersions,
} from '../pathways/index.ts';
import { personaAgent } from '../personas/index.ts';
import { agentTools } from '../tools/index.ts';
import type { PathwayTextAgent, PersonaTextAgent, TextGraph } from './text-agent.ts';

/** Most graphs of one conversation; a Transfer Pathway node beyond them leads nowhere. */
const mostGraphs = 20;

export interface PathwayChoice {
  readonly pathwayId: string;
  /** Default: production; the live graph when nothing was published. */
  readonly version?: number | 'production' | 'staging' | undefined;
  readonly startNodeId?: string | null | undefined;
  readonly firstSentence?: string | null | undefined;
}

/** @throws ApiError PATHWAY_NOT_FOUND, VERSION_NOT_FOUND; INVALID_PARAMETER at /start_node_id for an unknown node */
export async function pathwayTextAgent(
  db: Db,
  orgId: string,
  choice: PathwayChoice,
): Promise<PathwayTextAgent> {
  const { pathwayId, startNodeId = null, firstSentence = null } = choice;
  const pathway = await findPathway(db, orgId, pathwayId);
  if (!pathway) throw ApiError.of('PATHWAY_NOT_FOUND');
  const published = { production: pathway.production_version, staging: pathway.staging_version };
  const version = resolveVersion(choice.version === undefined ? null : String(choice.version), published);
  const graphs = await reachableGraphs(db, orgId, [{ pathwayId, version }]);
  const own = graphs.find((graph) => graph.pathwayId === pathwayId && graph.version === version);
  if (!own) throw ApiError.of('VERSION_NOT_FOUND');
  if (startNodeId !== null && !own.nodes.some((node) => node.id === startNodeId)) {
    throw ApiError.invalid('/start_node_id', `the pathway has no node "${startNodeId}"`);
  }
  return { kind: 'pathway', orgId, pathwayId, version, startNodeId, firstSentence, graphs };
}

/**
 * @param settings override the persona's call_config, for example a language
 * @param versionId of the persona; default: the one in production
 * @throws ApiError PERSONA_NOT_FOUND
 */
export async function personaTextAgent(
  db: Db,
  orgId: string,
  personaId: string,
  settings: NumberSettings = {},
  versionId?: string,
): Promise<PersonaTextAgent> {
  const agent = await personaAgent(db, orgId, personaId, settings, versionId);
  if (!agent) throw ApiError.of('PERSONA_NOT_FOUND');
  const roots = agent.pathway_conditions.map(({ pathway_id, pathway_version }) => ({
    pathwayId: pathway_id,
    version: pathway_version,
  }));
  return { kind: 'persona', orgId, settings: agent, graphs: await reachableGraphs(db, orgId, roots) };
}

/** These graphs, and those reached by their Transfer Pathway nodes; missing ones are left out. */
async function reachableGraphs(
  db: Db,
  orgId: string,
  roots: readonly { readonly pathwayId: string; readonly version: number }[],
): Promise<TextGraph[]> {
  const found: TextGraph[] = [];
  const open = [...roots];
  const seen = new Set<string>();
  for (let next = open.shift(); next && found.length < mostGraphs; next = open.shift()) {
    const { pathwayId, version } = next;
    const key = `${pathwayId}@${version}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const pathway = await findPathway(db, orgId, pathwayId);
    const graph = version === 0 ? pathway : pathway && (await findVersion(db, pathwayId, version));
    if (!graph) continue;
    const { nodes, edges } = graph;
    const members: TextGraph['nodes'] = await withTransferVersions(db, orgId, fromJson(nodes));
    const tools = await agentTools(db, orgId, toolIdsIn(members));
    found.push({ pathwayId, version, nodes: members, edges: fromJson(edges), tools });
    for (const reference of transferReferences({ nodes: toJson(members) })) {
      open.push({ pathwayId: reference.pathwayId, version: Number(reference.version) });
    }
  }
  return found;
}
