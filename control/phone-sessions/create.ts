/** Creates phone sessions: for customers (routes.ts), and for visitors of their widgets. */
import { newId } from '#shared/ids.ts';
import { type Actor, recordChange } from '../audit/index.ts';
import type { Db, PhoneSessionRow } from '../db/index.ts';
import { isPublished } from '../edge-link/index.ts';
import type { PhoneSessionDeps } from './deps.ts';
import { changeOf, credentialsOf } from './rules.ts';
import { insertSession, nextGeneration, sessionRoom } from './store.ts';
import type { PhoneTarget } from './targets.ts';

export interface PhoneSessionOrder {
  readonly orgId: string;
  readonly target: PhoneTarget;
  readonly caller: string;
  readonly purpose: string | null;
  /** How many may be made. */
  readonly calls: number;
  readonly expiresInS: number;
  readonly actor: Actor;
}

export interface CreatedSession {
  readonly row: PhoneSessionRow;
  readonly credentials: ReturnType<typeof credentialsOf>;
}

/**
 * @param answer builds the response, in the transaction that stores the session
 * @throws ApiError QUOTA_EXCEEDED, SERVICE_UNAVAILABLE
 */
export async function createSession<T>(
  services: Omit<PhoneSessionDeps, 'allowedTargets'>,
  order: PhoneSessionOrder,
  answer: (trx: Db, session: CreatedSession) => Promise<T>,
): Promise<T> {
  const { catalogue, clock, database, edges, quotas, secrets } = services;
  const { orgId, caller, purpose, calls } = order;
  const { agent, columns, region } = order.target;
  const callsMore = agent !== null || columns.called !== null;
  const edge = order.target.edge ?? edges.leastLoadedForBrowsers({ wish: region, callsMore });
  const now = clock.now();
  const id = newId();
  const expires_at = now + order.expiresInS * 1000;
  // Before the credentials are given out. Should they not be after all, the edge forgets it when it expires.
  const tell = async () => {
    if (agent === null) return;
    const { name, settings } = agent;
    await edge.command({
      kind: 'phone.agent',
      session_id: id,
      org_id: orgId,
      name,
      agent: settings,
      expires_at,
    });
  };
  await tell();
  const { pathway_id, pathway_version } = columns;
  const isNew =
    pathway_id !== null &&
    pathway_version !== null &&
    !(await isPublished(database.db, pathway_id, pathway_version));
  const made = await catalogue.change(async (trx, altered) => {
    await quotas.counting('phone_sessions', () => sessionRoom(trx, clock, orgId));
    const row: PhoneSessionRow = {
      id,
      org_id: orgId,
      edge_id: edge.edgeId,
      supervises: null,
      supervision: null,
      ...columns,
      caller,
      purpose,
      calls,
      calls_made: 0,
      last_call_id: null,
      created_at: new Date(now).toISOString(),
      expires_at: new Date(expires_at).toISOString(),
      revoked_at: null,
    };
    if (isNew) altered.pathways.add(pathway_id);
    const { generation, replaced } = await nextGeneration(trx, clock, orgId);
    if (replaced) altered.organizations.add(orgId);
    await insertSession(trx, row);
    await recordChange(trx, clock, order.actor, { ...changeOf(row), action: 'create' });
    const credentials = credentialsOf(row, generation, edge, (input) => secrets.derive(input));
    return answer(trx, { row, credentials });
  });
  // Once it has answered this, it has the version of the pathway too.
  if (isNew) await tell().catch(() => undefined);
  return made;
}
