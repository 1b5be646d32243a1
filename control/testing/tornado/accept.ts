/** Keeps some fixes of an ended session as a version of their own; the others are refused (contract 6.8). */
import type { TornadoAccept } from '#shared/api/agent-testing/tornado.ts';
import { ApiError } from '#shared/errors.ts';
import type { Actor } from '../../audit/index.ts';
import type { Altered } from '../../catalogue/index.ts';
import { type Db, fromJson, type TestTornadoSessionRow, toJson } from '../../db/index.ts';
import { acceptGraph, contentHash, keepVersion, requirePathway } from '../../pathways/index.ts';
import { recordTestingChange } from '../common/audit.ts';
import type { TestingDeps } from '../common/deps.ts';
import { requireSession } from '../records/tornado-sessions.ts';
import { type KeptFix, withFixes } from './kept.ts';
import { graphOf } from './start.ts';

/**
 * @param db the transaction of a change of the edges' configuration
 * @throws ApiError TORNADO_NOT_FOUND, NOT_ENDED, PATHWAY_NOT_FOUND, VERSION_NOT_FOUND, TORNADO_BASE_CHANGED,
 * INVALID_PARAMETER, INVALID_GRAPH, TARGET_NOT_ALLOWED, QUOTA_EXCEEDED
 */
export async function acceptFixes(
  services: TestingDeps,
  db: Db,
  altered: Altered,
  by: Actor,
  {
    orgId,
    sessionId,
    body,
  }: { readonly orgId: string; readonly sessionId: string; readonly body: TornadoAccept },
) {
  const session = await requireSession(db, orgId, sessionId);
  if (session.status === 'RUNNING') throw ApiError.of('NOT_ENDED');
  const chosen = chosenFixes(session, body.fix_ids);
  const pathway = await requirePathway(db, orgId, session.pathway_id);
  const base = await graphOf(db, pathway, session.base_version);
  if (contentHash({ nodes: toJson([...base.nodes]), edges: toJson([...base.edges]) }) !== session.base_hash) {
    throw ApiError.of('TORNADO_BASE_CHANGED', { version_number: session.base_version });
  }
  const made = withFixes(base, chosen);
  if ('misfit' in made) {
    const place = `/fix_ids/${body.fix_ids.indexOf(made.misfit.id)}`;
    throw ApiError.invalid(place, `${made.misfit.id} needs a fix that is not among them`);
  }
  const { nodes, edges } = made.graph;
  const graph = acceptGraph([...nodes], [...edges], services.allowedTargets);
  const name = body.name ?? nameOf(session, chosen);
  const kept = { orgId, pathwayId: pathway.id, name, graph };
  const { created_at, number } = await keepVersion(services, db, altered, by, kept);
  altered.pathways.add(pathway.id);
  await recordTestingChange(db, services, by, { orgId, subject: session.id, action: 'tornado_accept' });
  return { pathway_id: pathway.id, version_number: number, name, created_at };
}

/** In order of application. */
function chosenFixes(session: TestTornadoSessionRow, ids: readonly string[]): KeptFix[] {
  const fixes = fromJson<KeptFix[]>(session.fixes ?? toJson([]));
  const known = new Set(fixes.map(({ id }) => id));
  const unknown = ids.findIndex((id) => !known.has(id));
  if (unknown >= 0) {
    throw ApiError.invalid(`/fix_ids/${unknown}`, 'the version of the session has no such fix');
  }
  return fixes.filter(({ id }) => ids.includes(id));
}

function nameOf({ base_version }: TestTornadoSessionRow, fixes: readonly KeptFix[]): string {
  const of = base_version === 0 ? 'the live graph' : `version ${base_version}`;
  return `Tornado: ${of} with ${fixes.map(({ id }) => id).join(', ')}`.slice(0, 200);
}
