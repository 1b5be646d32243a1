/**
 * For the queries of nearly every request: Kysely takes several times as long to build a query as SQLite to find one
 * row.
 */
import type { Compilable, CompiledQuery } from 'kysely';
import type { Db } from './tables.ts';

/**
 * A query with a fixed text, built at its first run and later only given its values.
 * @param build uses each value once, as a parameter, in the order of its arguments
 * @returns runs the query and returns its rows
 * @throws Error at the first run when the query has other parameters than the values
 */
export function builtOnce<Row, Values extends readonly unknown[]>(
  build: (db: Db, ...values: Values) => Compilable<Row>,
): (db: Db, ...values: Values) => Promise<Row[]> {
  let built: CompiledQuery<Row> | undefined;
  return async (db, ...values) => {
    built ??= compile(build(db, ...values), values);
    const { rows } = await db.executeQuery<Row>({ ...built, parameters: values });
    return rows;
  };
}

function compile<Row>(query: Compilable<Row>, values: readonly unknown[]): CompiledQuery<Row> {
  const built = query.compile();
  const areItsParameters =
    built.parameters.length === values.length && values.every((value, at) => value === built.parameters[at]);
  if (!areItsParameters)
    throw new Error(`A query built once must take its values in their order: ${built.sql}`);
  return built;
}
