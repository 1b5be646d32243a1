/** A table of rows, each of which may be a link. Less important columns leave first when it gets narrow. */
import type { ComponentChildren, VNode } from 'preact';
import { texts } from '../text/texts.ts';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly numeric?: boolean;
  /** The width of the page below which it is left out. */
  readonly from?: 'medium' | 'wide' | 'widest';
  /** Takes the room that is left, and is cut off. */
  readonly grows?: boolean;
}

export interface Part {
  readonly from: number;
  readonly to: number;
  /** Of each row, px. */
  readonly height: number;
  /** By their keys: rows that stay as they are while others come into the view. */
  drawn: ReadonlyMap<string, VNode>;
}

export interface TableProps<Row> {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Which rows are drawn; without it all are (long-table.tsx). */
  readonly part?: Part;
}

export function Table<Row>({ name, rows, columns, keyOf, part }: TableProps<Row>) {
  const { from, to, height } = part ?? { from: 0, to: rows.length, height: 0 };
  const drawn = rows.slice(from, to).map((row, index): [string, VNode] => {
    const key = keyOf(row);
    const known = part?.drawn.get(key);
    if (known) return [key, known];
    const cells = columns.map((column) => (
      <td key={column.head} class={classOf(column)}>
        {column.cell(row)}
      </td>
    ));
    return [
      key,
      <tr key={key} aria-rowindex={part && from + index + 2}>
        {cells}
      </tr>,
    ];
  });
  if (part) part.drawn = new Map(drawn);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section class="table" aria-label={texts.lists.table(name)} tabIndex={0}>
      <table aria-rowcount={part && rows.length + 1}>
        <thead>
          <tr aria-rowindex={part && 1}>
            {columns.map((column) => (
              <th key={column.head} scope="col" class={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <Gap key="before" columns={columns.length} height={from * height} />
        <tbody key="rows">{drawn.map(([, row]) => row)}</tbody>
        <Gap key="after" columns={columns.length} height={Math.max(0, rows.length - to) * height} />
      </table>
    </section>
  );
}

/** The room of rows that are not drawn. */
function Gap({ columns, height }: { columns: number; height: number }) {
  if (height === 0) return null;
  return (
    <tbody aria-hidden="true" class="gap">
      <tr>
        <td colSpan={columns} style={{ height: `${height}px` }} />
      </tr>
    </tbody>
  );
}

function classOf({ numeric = false, from, grows = false }: Column<never>): string {
  return [numeric && 'numeric', from && `from-${from}`, grows && 'grows'].filter(Boolean).join(' ');
}
