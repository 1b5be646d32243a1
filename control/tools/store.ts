/** Tools in the database, and queries for other areas. */
import { sql } from 'kysely';
import { toolIdsIn } from '#shared/agent/node-tools.ts';
import type { AgentTool } from '#shared/edge-protocol/agents.ts';
import { type Db, fromJson, type SecretBox, type ToolRow, toJson } from '../db/index.ts';
import { countRows } from '../http/index.ts';
import type { ToolDraft } from './rules.ts';
import { openBody, sealBody } from './sealed-store.ts';

const prefix = 'TL-';
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The public id of a tool (contract 1.5). */
export function toolIdOf(uuid: string): string {
  return prefix + uuid;
}

/** The uuid of a tool id, with or without its prefix; null if invalid. */
function toolUuid(id: string): string | null {
  const uuid = id.startsWith(prefix) ? id.slice(prefix.length) : id;
  return uuidForm.test(uuid) ? uuid : null;
}

/** @param id with or without its prefix */
export async function findTool(db: Db, orgId: string, id: string): Promise<ToolRow | undefined> {
  const uuid = toolUuid(id);
  if (uuid === null) return undefined;
  return db
    .selectFrom('tools')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('id', '=', uuid)
    .executeTakeFirst();
}

/** The organization's tools with these ids, without duplicates, in the order of the ids. */
async function findTools(db: Db, orgId: string, ids: readonly string[]): Promise<ToolRow[]> {
  const uuids = [...new Set(ids.map(toolUuid).filter((uuid) => uuid !== null))];
  if (uuids.length === 0) return [];
  const rows = await db
    .selectFrom('tools')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('id', 'in', uuids)
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return uuids.flatMap((uuid) => byId.get(uuid) ?? []);
}

/** Index of the first id that is not a tool of the organization; -1 when all are. */
export async function firstUnknownTool(db: Db, orgId: string, ids: readonly string[]): Promise<number> {
  const known = new Set((await findTools(db, orgId, ids)).map((row) => row.id));
  return ids.findIndex((id) => !known.has(toolUuid(id) ?? ''));
}

/** These tools as agents see them; deleted ones are left out. */
export async function agentTools(db: Db, orgId: string, ids: readonly string[]): Promise<AgentTool[]> {
  return (await findTools(db, orgId, ids)).map(agentTool);
}

/** The tools referenced by nodes of a graph (contract 11.1), as agents see them. */
export function nodeTools(db: Db, orgId: string, nodes: readonly unknown[]): Promise<AgentTool[]> {
  return agentTools(db, orgId, toolIdsIn(nodes));
}

/** Whether a tool of the organization has this name. */
export async function isToolName(db: Db, orgId: string, name: string): Promise<boolean> {
  const tools = db.selectFrom('tools').select('id').where('org_id', '=', orgId).where('name', '=', name);
  return (await tools.limit(1).executeTakeFirst()) !== undefined;
}

/** How long an agent waits beyond the tool's own timeout, for the network, ms. */
const wayMs = 2000;

function agentTool(row: ToolRow): AgentTool {
  const { timeout, cooldown, max_retries } = row;
  return {
    tool_id: toolIdOf(row.id),
    name: row.name,
    description: row.description,
    input_schema: row.input_schema === null ? null : fromJson<Record<string, unknown>>(row.input_schema),
    speech: row.speech === '' ? null : row.speech,
    timeout_ms: Math.ceil((1 + max_retries) * timeout + max_retries * cooldown * 1000 + wayMs),
  };
}

export interface ToolPage {
  readonly page: number;
  readonly limit: number;
  readonly search: string | null;
  readonly direction: 'asc' | 'desc';
}

/** The ids of one page by age. `total` counts the search's matches. */
export async function listTools(
  db: Db,
  orgId: string,
  { page, limit, search, direction }: ToolPage,
): Promise<{ readonly ids: string[]; readonly total: number }> {
  let query = db.selectFrom('tools').select('id').where('org_id', '=', orgId);
  if (search !== null && search !== '') {
    // Searches the organization's tools only, which the index has in order.
    const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    const holds = (column: 'name' | 'description') =>
      sql<boolean>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`;
    query = query.where(({ or }) => or([holds('name'), holds('description')]));
  }
  const rows = await query
    .orderBy('created_at', direction)
    .orderBy('id', direction)
    .limit(limit)
    .offset((page - 1) * limit)
    .execute();
  return { ids: rows.map(({ id }) => id), total: await countRows(query) };
}

/** A tool of a list, without columns of more than `most` bytes, which `cut` lists. */
export async function listedTool(
  db: Db,
  orgId: string,
  id: string,
  most: number,
): Promise<{ row: ToolRow; cut: readonly string[] } | undefined> {
  const large = await db
    .selectFrom('tools')
    .select((eb) => [
      eb.fn<number | null>('octet_length', ['body']).as('body'),
      eb.fn<number | null>('octet_length', ['input_schema']).as('input_schema'),
      eb.fn<number | null>('octet_length', ['response_data']).as('response_data'),
    ])
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!large) return undefined;
  // Sealed text takes a third more space.
  const cut = (['body', 'input_schema', 'response_data'] as const).filter(
    (column) => (large[column] ?? 0) > most * 2,
  );
  const kept = (['body', 'input_schema', 'response_data'] as const).filter((column) => !cut.includes(column));
  const row = await db
    .selectFrom('tools')
    .select(['id', 'org_id', 'name', 'description', 'integration', 'action', 'speech', 'timeout', 'cache'])
    .select(['max_retries', 'cooldown', 'resource_id', 'public', 'label', 'version', 'created_at'])
    .select('updated_at')
    .select(kept)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return { row: Object.assign({ body: null, input_schema: null, response_data: null }, row), cut };
}

export async function insertTool(
  db: Db,
  secrets: SecretBox,
  tool: { readonly id: string; readonly orgId: string; readonly now: string },
  draft: ToolDraft,
): Promise<void> {
  const { id, orgId, now } = tool;
  await db
    .insertInto('tools')
    .values({
      id,
      org_id: orgId,
      ...columnsOf(secrets, id, draft),
      version: 1,
      created_at: now,
      updated_at: now,
    })
    .execute();
}

export async function updateTool(
  db: Db,
  secrets: SecretBox,
  id: string,
  draft: ToolDraft,
  now: string,
): Promise<void> {
  await db
    .updateTable('tools')
    .set((eb) => ({ ...columnsOf(secrets, id, draft), version: eb('version', '+', 1), updated_at: now }))
    .where('id', '=', id)
    .execute();
}

export async function deleteTool(db: Db, id: string): Promise<void> {
  await db.deleteFrom('tools').where('id', '=', id).execute();
  await db.deleteFrom('tool_runs').where('tool_id', '=', id).execute();
}

export function draftOf(secrets: SecretBox, row: ToolRow): ToolDraft {
  const { name, description, integration, action, speech, timeout, max_retries, cooldown } = row;
  return {
    name,
    description,
    integration,
    action,
    input_schema: row.input_schema === null ? null : fromJson<Record<string, unknown>>(row.input_schema),
    body: openBody(secrets, row),
    speech,
    timeout,
    cache: row.cache === 1,
    response_data:
      row.response_data === null
        ? null
        : fromJson<NonNullable<ToolDraft['response_data']>>(row.response_data),
    max_retries,
    cooldown,
    resource_id: row.resource_id,
    public: row.public === 1,
    label: row.label,
  };
}

function columnsOf(
  secrets: SecretBox,
  id: string,
  { input_schema, body, cache, response_data, public: isPublic, ...draft }: ToolDraft,
) {
  return {
    ...draft,
    input_schema: input_schema && toJson(input_schema),
    body: sealBody(secrets, id, body),
    cache: flag(cache),
    response_data: response_data && toJson(response_data),
    public: flag(isPublic),
  };
}

function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}
