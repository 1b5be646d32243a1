/** Which part of a list is shown: its filter by state, and links to its other pages. All of it is in the address. */
import { address, navigate, query, withQuery } from '../router.ts';
import { texts } from '../text/texts.ts';

/** Rows that are left out before those of this page. */
export function offsetOf(): number {
  return Math.max(0, Math.floor(Number(query.value.get('offset')) || 0));
}

/** For lists that the API pages by number, from 1. */
export function pageNumberOf(rows: number): number {
  return Math.floor(offsetOf() / rows) + 1;
}

/** For lists that go on behind a row instead of counting them: this row; '': the page begins with the newest. */
export function beforeOf(): string {
  return query.value.get('before') ?? '';
}

/** The same list from another place. */
function listAt(place: Readonly<Record<string, string>>): string {
  const [path = ''] = address.value.split('?');
  return withQuery(path, { ...Object.fromEntries(query.value), offset: '', before: '', ...place });
}

type PageLinksProps = {
  /** Rows of a page. */
  readonly rows: number;
} & ({ readonly total: number } | { readonly hasMore: boolean });

export function PageLinks({ rows, ...list }: PageLinksProps) {
  const offset = offsetOf();
  const total = 'total' in list ? list.total : null;
  const hasMore = 'hasMore' in list ? list.hasMore : offset + rows < list.total;
  if (offset === 0 && !hasMore) return null;
  const at = (start: number) => listAt({ offset: start <= 0 ? '' : String(start) });
  return (
    <nav class="row pager" aria-label={texts.lists.pages}>
      {offset > 0 && <a href={at(offset - rows)}>{texts.lists.previous}</a>}
      {hasMore && <a href={at(offset + rows)}>{texts.lists.next}</a>}
      {total !== null && <span class="quiet">{texts.lists.inAll(total)}</span>}
    </nav>
  );
}

/** @param next the row behind which the list goes on; null: this page is the last one */
export function OlderLinks({ next }: { readonly next: string | null }) {
  const isFirst = beforeOf() === '';
  if (isFirst && next === null) return null;
  return (
    <nav class="row pager" aria-label={texts.lists.pages}>
      {!isFirst && <a href={listAt({})}>{texts.lists.newest}</a>}
      {next === null ? (
        <span class="quiet">{texts.lists.noMore}</span>
      ) : (
        <a href={listAt({ before: next })}>{texts.lists.older}</a>
      )}
    </nav>
  );
}

/** The state that the address names. @returns null: all of them */
export function stateOfAddress<S extends string>(states: readonly S[]): S | null {
  const wanted = query.value.get('state');
  return states.find((one) => one === wanted) ?? null;
}

interface StateFilterProps<S extends string> {
  readonly label: string;
  readonly states: readonly S[];
  readonly names: Readonly<Record<S, string>>;
}

export function StateFilter<S extends string>({ label, states, names }: StateFilterProps<S>) {
  const state = stateOfAddress(states) ?? '';
  return (
    <div class="filters">
      <label>
        {label}
        <select value={state} onChange={({ currentTarget: { value } }) => navigate(listAt({ state: value }))}>
          <option value="">{texts.lists.allStates}</option>
          {states.map((one) => (
            <option key={one} value={one}>
              {names[one]}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
