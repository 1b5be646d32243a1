/** Warnings about a valid graph: about the graph itself, and about its references. */

import type { Db } from '../db/index.ts';
import { findOrganization, storedConnections } from '../organizations/index.ts';
import { firstUnknownTool } from '../tools/index.ts';
import { type GraphNote, graphNotes, type NamedRow, namedRows, type StoredGraph } from './rules.ts';
import { findPathway } from './store.ts';

const mostNotes = 20;

/** At most 20. Tools and pathways of other organizations count as unknown. */
export async function authorNotes(db: Db, orgId: string, graph: StoredGraph): Promise<GraphNote[]> {
  const { tools, pathways, connections } = namedRows(graph);
  const notes = [...graphNotes(graph)];
  const isTool = once(async (id) => (await firstUnknownTool(db, orgId, [id])) < 0);
  const isPathway = once(async (id) => (await findPathway(db, orgId, id)) !== undefined);
  await note(
    notes,
    tools,
    'unknown_tool',
    isTool,
    (id) => `there is no tool "${id}"; the node goes without it`,
  );
  await note(
    notes,
    pathways,
    'unknown_pathway',
    isPathway,
    (id) => `unknown pathway "${id}"; the node follows its failure edge`,
  );
  if (connections.length > 0) {
    const known = new Set(storedConnections(await findOrganization(db, orgId)).map(({ id }) => id));
    await note(
      notes,
      connections,
      'unknown_connection',
      async (id) => known.has(id),
      (id) => `the organization has no realtime connection "${id}"; the node follows its failure edge`,
    );
  }
  return notes.slice(0, mostNotes);
}

async function note(
  notes: GraphNote[],
  named: readonly NamedRow[],
  rule: string,
  isThere: (id: string) => Promise<boolean>,
  say: (id: string) => string,
): Promise<void> {
  for (const { path, id } of named) {
    if (notes.length >= mostNotes) return;
    if (!(await isThere(id))) notes.push({ path, rule, message: say(id) });
  }
}

/** Looks up each id once. */
function once(ask: (id: string) => Promise<boolean>): (id: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  return (id) => {
    const answer = known.get(id) ?? ask(id);
    known.set(id, answer);
    return answer;
  };
}
