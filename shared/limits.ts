/** Limits are named constants beside the code that uses them; a program is made from a table of them. */

/** By area, then by name. */
type LimitTable = Readonly<Record<string, object>>;

/** Other values for some limits of a program: tests hand them in. */
export type LimitOverrides<Table extends LimitTable> = {
  readonly [Area in keyof Table]?: Partial<Table[Area]>;
};

/** The table with some values replaced. */
export function withLimits<Table extends LimitTable>(
  table: Table,
  overrides: LimitOverrides<Table> = {},
): Table {
  const areas = Object.entries(table).map(([area, limits]) => [area, { ...limits, ...overrides[area] }]);
  return Object.fromEntries(areas) as Table;
}
