/** Names of nodes, for screens about a conversation: its record has only their ids. */
import { request } from '../../api/client.ts';
import { RequestFailed } from '../../api/problem.ts';
import { useLoaded } from '../../parts/load.ts';
import { seldom, unchanging } from '../../parts/renewal.ts';
import { type Graph, nodesOf, titleOf } from './graph.ts';

export interface OfVersion {
  /** null: it is about no pathway */
  readonly pathway_id: string | null;
  readonly version_number: number;
}

const noGraph: Graph = { nodes: [], edges: [] };

async function read(pathway: string, version: number, signal: AbortSignal): Promise<Graph> {
  try {
    const path = { id: pathway, version_id: String(version) };
    return await request('GET /v1/pathway/{id}/version/{version_id}', { path, signal });
  } catch (error) {
    // It is deleted, and its runs are kept.
    if (error instanceof RequestFailed && error.problem.status === 404) return noGraph;
    throw error;
  }
}

/** @returns the id itself of a node that the version does not have, or not any more */
export function useNodeNames(of: OfVersion | null | undefined): (id: string) => string {
  const { pathway_id: pathway = null, version_number: version = 0 } = of ?? {};
  const { data } = useLoaded(
    `nodes ${pathway} ${version}`,
    async (signal) => (pathway === null ? noGraph : read(pathway, version, signal)),
    pathway === null ? unchanging : seldom,
  );
  const names = new Map(nodesOf(data ?? noGraph).map((node) => [node.id, titleOf(node)]));
  return (id) => names.get(id) ?? id;
}
