/** Pages of rows, and the total. */
import { type SelectQueryBuilder, sql } from 'kysely';

export interface NewestPage<Row> {
  readonly rows: Row[];
  readonly total: number;
}

/** Newest first. @param all every row of the list, with its columns; has `created_at` and `id` */
export async function newestPage<DB, TB extends keyof DB, Row>(
  all: SelectQueryBuilder<DB, TB, Row>,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<NewestPage<Row>> {
  const rows = await all
    .orderBy(sql.ref('created_at'), 'desc')
    .orderBy(sql.ref('id'), 'desc')
    .limit(limit)
    .offset(offset)
    .$castTo<Row>()
    .execute();
  return { rows, total: await countRows(all) };
}

/** @param all every row of the list, without page and order */
export async function countRows<DB, TB extends keyof DB, Row>(
  all: SelectQueryBuilder<DB, TB, Row>,
): Promise<number> {
  const { total } = await all
    .clearSelect()
    .select(sql<number>`count(*)`.as('total'))
    .$castTo<{ readonly total: number }>()
    .executeTakeFirstOrThrow();
  return total;
}
