/** A table of rows, each of which may be a link. Less important columns leave first when it gets narrow. */
import type { ComponentChildren } from 'preact';
import { texts } from '../text/texts.ts';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly numeric?: boolean;
  /** The width of the page below which it is left out. */
  readonly from?: 'medium' | 'wide';
  /** Takes the room that is left, and is cut off. */
  readonly grows?: boolean;
}

export interface TableProps<Row> {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
}

export function Table<Row>({ name, rows, columns, keyOf }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section class="table" aria-label={texts.lists.table(name)} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" class={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.head} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function classOf({ numeric = false, from, grows = false }: Column<never>): string {
  return [numeric && 'numeric', from && `from-${from}`, grows && 'grows'].filter(Boolean).join(' ');
}
