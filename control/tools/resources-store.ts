/** Connected resources; their credentials are sealed at rest and leave this file for a run only. */

import { type Db, type IntegrationResourceRow, openJson, type SecretBox, sealJson } from '../db/index.ts';
import type { Credentials } from './integrations/integration.ts';

/** This many consecutive 401 responses make a resource inactive (contract 8.3). */
const mostRefusals = 3;

type Shown = Pick<IntegrationResourceRow, 'id' | 'name' | 'status'>;

/** One page, oldest first, and the total. */
export async function listResources(
  db: Db,
  orgId: string,
  integration: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ resources: Shown[]; total: number }> {
  const all = db
    .selectFrom('integration_resources')
    .where('org_id', '=', orgId)
    .where('integration', '=', integration);
  const { total } = await all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const resources = await all
    .select(['id', 'name', 'status'])
    .orderBy('created_at')
    .orderBy('id')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { resources, total };
}

/** Also finds inactive ones. */
export function findResource(
  db: Db,
  orgId: string,
  integration: string,
  id: string,
): Promise<Shown | undefined> {
  return db
    .selectFrom('integration_resources')
    .select(['id', 'name', 'status'])
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('integration', '=', integration)
    .executeTakeFirst();
}

/** New credentials reactivate a resource. */
export async function updateResource(
  db: Db,
  secrets: SecretBox,
  id: string,
  change: { readonly name?: string; readonly credentials?: Credentials },
): Promise<void> {
  const { credentials, name } = change;
  if (name === undefined && !credentials) return;
  await db
    .updateTable('integration_resources')
    .set({
      ...(name !== undefined && { name }),
      ...(credentials && {
        credentials: sealJson(secrets, credentials, contextOf(id)),
        status: 'active' as const,
        refusals: 0,
      }),
    })
    .where('id', '=', id)
    .execute();
}

export async function insertResource(
  db: Db,
  secrets: SecretBox,
  resource: Pick<IntegrationResourceRow, 'id' | 'org_id' | 'integration' | 'name' | 'created_at'>,
  credentials: Credentials,
): Promise<void> {
  const sealed = sealJson(secrets, credentials, contextOf(resource.id));
  await db
    .insertInto('integration_resources')
    .values({ ...resource, credentials: sealed, status: 'active', refusals: 0 })
    .execute();
}

/** Returns whether it existed. */
export async function deleteResource(
  db: Db,
  orgId: string,
  integration: string,
  id: string,
): Promise<boolean> {
  const result = await db
    .deleteFrom('integration_resources')
    .where('org_id', '=', orgId)
    .where('integration', '=', integration)
    .where('id', '=', id)
    .executeTakeFirst();
  return result.numDeletedRows > 0;
}

/** An active resource of the organization and integration. */
export function findActiveResource(
  db: Db,
  orgId: string,
  integration: string,
  id: string,
): Promise<IntegrationResourceRow | undefined> {
  return db
    .selectFrom('integration_resources')
    .selectAll()
    .where('id', '=', id)
    .where('org_id', '=', orgId)
    .where('integration', '=', integration)
    .where('status', '=', 'active')
    .executeTakeFirst();
}

/** @throws Error when they were sealed under another key */
export function openCredentials(secrets: SecretBox, row: IntegrationResourceRow): Credentials {
  return openJson<Credentials>(secrets, row.credentials, contextOf(row.id));
}

/** Counts a 401 response. */
export async function countRefusal(db: Db, id: string): Promise<void> {
  await db
    .updateTable('integration_resources')
    .set((eb) => ({ refusals: eb('refusals', '+', 1) }))
    .where('id', '=', id)
    .execute();
  await db
    .updateTable('integration_resources')
    .set({ status: 'inactive' })
    .where('id', '=', id)
    .where('refusals', '>=', mostRefusals)
    .execute();
}

/** Resets the count after any response but 401. */
export async function pruneRefusals(db: Db, id: string): Promise<void> {
  await db
    .updateTable('integration_resources')
    .set({ refusals: 0 })
    .where('id', '=', id)
    .where('refusals', '>', 0)
    .where('status', '=', 'active')
    .execute();
}

function contextOf(id: string): string {
  return `integration_resource:${id}`;
}
