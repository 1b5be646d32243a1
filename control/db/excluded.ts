/** The values of a row that an insert did not store because of a conflict. */
import { type RawBuilder, sql } from 'kysely';

/** For `doUpdateSet`: the columns of `row` get the values of the insert. */
export function excluded<Row extends object>(row: Row): { [Column in keyof Row]: RawBuilder<Row[Column]> } {
  const columns = Object.keys(row).map((column) => [column, sql.ref(`excluded.${column}`)]);
  return Object.fromEntries(columns);
}
