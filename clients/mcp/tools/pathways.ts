/** Pathways: reading a graph, and proposing edits as a version that somebody reviews. */
import { Type } from 'typebox';
import { TrunklineError } from '../../typescript/src/index.ts';
import { edited } from '../graph-edits.ts';
import { closed, id, skipped } from '../inputs.ts';
import { tool } from '../tool.ts';

const part = Type.Record(Type.String(), Type.Unknown());
const version = Type.Optional(
  Type.Integer({ minimum: 0, description: 'Version of the pathway; default: 0, the live graph' }),
);

const listPathways = tool(
  {
    name: 'list_pathways',
    description: 'Pathways with their names and the versions in production and staging.',
    input: Type.Object(skipped(100, 50), closed),
  },
  async (client, { limit = 50, offset = 0 }, signal) => {
    const query = { limit, offset, graphs: false };
    const pathways = await client.request('GET /v1/pathway', { query }, { signal });
    return {
      pathways: pathways.map(({ edges: _, nodes: __, ...pathway }) => pathway),
      next_offset: pathways.length < limit ? null : offset + limit,
    };
  },
);

const getPathway = tool(
  {
    name: 'get_pathway',
    description:
      'The graph of a pathway: every edge, and every node with id, type and name. node_ids asks for the whole data of these nodes.',
    input: Type.Object(
      {
        pathway_id: id('pathway_id of list_pathways'),
        version,
        node_ids: Type.Optional(Type.Array(id('Id of a node'), { maxItems: 10 })),
      },
      closed,
    ),
  },
  async (client, { node_ids = [], pathway_id, version: version_id = 0 }, signal) => {
    const { edges, name, nodes, version_number } = await client.request(
      'GET /v1/pathway/{id}/version/{version_id}',
      { path: { id: pathway_id, version_id: String(version_id) } },
      { signal },
    );
    return {
      pathway_id,
      version_number,
      name,
      nodes: nodes.map((node) => (node_ids.includes(String(node.id)) ? node : outline(node))),
      edges: edges.map(({ data, id: edge, source, target }) => ({
        id: edge,
        source,
        target,
        label: labelOf(data),
      })),
    };
  },
);

function outline({ data, id: node, type }: Readonly<Record<string, unknown>>) {
  const { isStart, name } = recordOf(data);
  return { id: node, type, name, ...(isStart === true && { isStart }) };
}

function labelOf(data: unknown): unknown {
  return recordOf(data).label;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

const proposeEdit = tool(
  {
    name: 'propose_pathway_edit',
    description:
      'Stores an edited graph as a new version of the pathway, which is not published: a person compares it in the console and publishes it. Read the nodes first (get_pathway with node_ids).',
    writes: true,
    input: Type.Object(
      {
        pathway_id: id('pathway_id of list_pathways'),
        name: Type.String({
          minLength: 1,
          maxLength: 200,
          description: 'What the version changes, in a few words',
        }),
        base_version: version,
        change_nodes: Type.Optional(
          Type.Array(Type.Object({ id: id('Id of a node'), data: part }, closed), {
            maxItems: 50,
            description: 'Members of data that change; null removes one',
          }),
        ),
        add_nodes: Type.Optional(
          Type.Array(part, { maxItems: 50, description: 'Whole nodes: id, type, data' }),
        ),
        remove_nodes: Type.Optional(Type.Array(id('Id of a node; its edges go with it'), { maxItems: 50 })),
        add_edges: Type.Optional(
          Type.Array(part, { maxItems: 100, description: 'Whole edges: id, source, target, data' }),
        ),
        remove_edges: Type.Optional(Type.Array(id('Id of an edge'), { maxItems: 100 })),
      },
      closed,
    ),
  },
  async (client, { base_version = 0, name, pathway_id, ...edits }, signal) => {
    if (Object.keys(edits).length === 0) throw new TrunklineError('There is no edit.');
    const base = await client.request(
      'GET /v1/pathway/{id}/version/{version_id}',
      { path: { id: pathway_id, version_id: String(base_version) } },
      { signal },
    );
    const { data, warnings } = await client.pathways.createVersion(
      pathway_id,
      { name, ...edited(base, edits) },
      { signal },
    );
    return { version_number: data.version_number, name: data.name, published: false, warnings };
  },
);

export const pathwayTools = [listPathways, getPathway, proposeEdit];
