/** Counts of runs by scenario and content: what a version's pass rate is made of. */
import { sql } from 'kysely';
import { type Db, isListed } from '../../db/index.ts';

/** The newest runs of the window: the answer costs the same however many there are. */
export const mostCounted = 10_000;

export interface ContentCount {
  readonly scenario_id: string;
  readonly content_hash: string;
  readonly passed: number;
  readonly failed: number;
  readonly errored: number;
  readonly runs: number;
  /** Among those that passed or failed. */
  readonly distinct: number;
}

/** @param from ISO 8601, inclusive */
export function contentCounts(db: Db, pathwayId: string, from: string): Promise<ContentCount[]> {
  const newest = db
    .selectFrom('test_runs')
    .select(['scenario_id', 'content_hash', 'status'])
    // A run from before conversations were compared counts as one of its own.
    .select(sql<string>`coalesce(conversation, id)`.as('conversation'))
    .where('pathway_id', '=', pathwayId)
    .where('created_at', '>=', from)
    .where('status', 'in', ['PASSED', 'FAILED', 'ERROR'])
    .where('as_is', '=', 1)
    .orderBy('created_at', 'desc')
    .limit(mostCounted);
  const number = (status: string) =>
    sql<number>`sum(case when status = ${sql.lit(status)} then 1 else 0 end)`;
  return db
    .selectFrom(newest.as('newest_runs'))
    .select(['scenario_id', 'content_hash'])
    .select([
      number('PASSED').as('passed'),
      number('FAILED').as('failed'),
      number('ERROR').as('errored'),
      sql<number>`count(*)`.as('runs'),
      sql<number>`count(distinct case when status <> 'ERROR' then conversation end)`.as('distinct'),
    ])
    .groupBy(['scenario_id', 'content_hash'])
    .execute();
}

export interface KnownScenario {
  readonly id: string;
  readonly name: string;
  readonly enabled: number;
  readonly is_required_for_promotion: number;
  readonly deleted_at: string | null;
}

/** Of a pathway, oldest first; of the deleted ones those that are named. */
export function knownScenarios(
  db: Db,
  orgId: string,
  pathwayId: string,
  deleted: readonly string[],
): Promise<KnownScenario[]> {
  return db
    .selectFrom('test_scenarios')
    .select(['id', 'name', 'enabled', 'is_required_for_promotion', 'deleted_at'])
    .where('org_id', '=', orgId)
    .where('pathway_id', '=', pathwayId)
    .where((eb) => eb.or([eb('deleted_at', 'is', null), isListed(db, 'id', deleted)]))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}
