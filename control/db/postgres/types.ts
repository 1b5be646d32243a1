/** How values of PostgreSQL become those that SQLite's driver returns. */
import pg from 'pg';

const { builtins } = pg.types;

/** By type OID. @throws RangeError for an integer that a number cannot hold */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [builtins.INT8]: integer,
  // The sum of integers.
  [builtins.NUMERIC]: integer,
  [builtins.BOOL]: (text) => (text === 't' ? 1 : 0),
};

export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (type: number) => parsers[type] ?? pg.types.getTypeParser(type),
};

function integer(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(text)) return value;
  throw new RangeError(`The database returned ${text}, which is not a safe integer`);
}
