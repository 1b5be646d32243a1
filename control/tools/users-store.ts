/** The agents that use a tool: what must be republished to the edges when it changes. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/index.ts';

interface Altered {
  readonly numbers: Set<string>;
  readonly pathways: Set<string>;
}

/**
 * Marks the numbers and pathways whose agents may use the tool. It searches the text of the organization's pathways,
 * numbers and personas, because tools rarely change and are used in many places.
 * @param uuid of the tool, without its prefix
 */
export async function markUsers(db: Db, orgId: string, uuid: string, altered: Altered): Promise<void> {
  const holds = (column: string): RawBuilder<boolean> => sql<boolean>`${sql.ref(column)} like ${`%${uuid}%`}`;
  const pathways = await db
    .selectFrom('pathways')
    .select('id')
    .where('org_id', '=', orgId)
    .where(({ eb, or, exists }) =>
      or([
        holds('nodes'),
        exists(
          eb
            .selectFrom('pathway_versions')
            .select('pathway_versions.pathway_id')
            .whereRef('pathway_versions.pathway_id', '=', 'pathways.id')
            .where(holds('pathway_versions.nodes')),
        ),
      ]),
    )
    .execute();
  for (const { id } of pathways) altered.pathways.add(id);
  const personas = db
    .selectFrom('personas')
    .innerJoin('persona_versions', 'persona_versions.persona_id', 'personas.id')
    .select('personas.id')
    .where('personas.org_id', '=', orgId)
    .where(holds('persona_versions.default_tools'));
  const numbers = await db
    .selectFrom('numbers')
    .select('number')
    .where('org_id', '=', orgId)
    .where('archived_at', 'is', null)
    .where(({ eb, or }) => or([holds('settings'), eb('persona_id', 'in', personas)]))
    .execute();
  for (const { number } of numbers) altered.numbers.add(number);
}
