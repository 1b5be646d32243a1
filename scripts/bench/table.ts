/** Markdown tables of benchmarks' results. Every heading with a number below it names the unit. */

/** A heading, and the text of a row's cell below it. */
export type Column<R> = readonly [heading: string, cell: (row: R) => string];

/** One line for each row. The first column is text, the others are numbers. */
export function markdownTable<R>(columns: readonly Column<R>[], rows: readonly R[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(columns.map(([heading]) => heading)),
    `|---${'|--:'.repeat(columns.length - 1)}|`,
    ...rows.map((row) => line(columns.map(([, cell]) => cell(row)))),
  ].join('\n');
}

/** One line for each value of a result, such as `['time, s', '3.47']`. */
export function valueTable(values: readonly (readonly [what: string, value: string])[]): string {
  return markdownTable(
    [
      ['what', ([what]) => what],
      ['value', ([, value]) => value],
    ],
    values,
  );
}

/** With thousands separators, at most two decimals. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}
