/** Links to the other pages of a list with a known length. The page is part of the address. */
import { type pathTo, query, withQuery } from '../router.ts';
import { texts } from '../text/texts.ts';

type Path = ReturnType<typeof pathTo>;

interface PagesProps {
  readonly path: Path;
  /** Rows of a page. */
  readonly rows: number;
  readonly total: number;
}

export function offsetOf(): number {
  return Math.max(0, Math.floor(Number(query.value.get('offset')) || 0));
}

export function Pages({ path, rows, total }: PagesProps) {
  const offset = offsetOf();
  if (offset === 0 && total <= rows) return null;
  const filters = Object.fromEntries(query.value);
  const at = (start: number) => withQuery(path, { ...filters, offset: start <= 0 ? '' : String(start) });
  return (
    <nav class="row pager" aria-label={texts.lists.pages}>
      {offset > 0 && <a href={at(offset - rows)}>{texts.lists.previous}</a>}
      {offset + rows < total && <a href={at(offset + rows)}>{texts.lists.next}</a>}
      <span class="quiet">{texts.lists.inAll(total)}</span>
    </nav>
  );
}
