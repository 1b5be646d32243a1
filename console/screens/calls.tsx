/** The call log, and the search in what was said. Filters and page are in the address, so Back and links work. */
import type { TargetedSubmitEvent } from 'preact';
import { request } from '../api/client.ts';
import { CallColumns, type LoggedCall } from '../parts/call-columns.tsx';
import { useLoaded } from '../parts/load.ts';
import { Empty, Loading, ProblemNote, Screen } from '../parts/pieces.tsx';
import { Table } from '../parts/table.tsx';
import { useTitle } from '../parts/title.ts';
import { address, navigate, pathTo, query, withQuery } from '../router.ts';
import { texts } from '../text/texts.ts';
import { CallFilters, filterNames } from './call-filters.tsx';
import { SpokenLines } from './spoken-lines.tsx';

/** Rows of a page. */
const pageRows = 50;

export function Calls() {
  useTitle(texts.calls.title);
  const filters = Object.fromEntries(filterNames.map((name) => [name, query.value.get(name) ?? '']));
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const values = filterNames.map((name): [string, string] => [name, String(data.get(name) ?? '').trim()]);
    navigate(withQuery(pathTo('calls'), Object.fromEntries(values)));
  };
  const words = filters.words ?? '';
  return (
    <Screen title={texts.calls.title}>
      <CallFilters key={address.value} values={filters} onSubmit={submit} />
      {words === '' ? <Log filters={filters} /> : <SpokenLines words={words} />}
    </Screen>
  );
}

function Log({ filters }: { filters: Readonly<Record<string, string>> }) {
  const before = query.value.get('before') ?? '';
  const loaded = useLoaded(address.value, async (signal) => {
    const { direction } = filters;
    const page = await request('GET /v1/sip/calls', {
      query: {
        limit: pageRows,
        ...(filters.number && { phone_number: filters.number }),
        ...(filters.outcome && { status: filters.outcome }),
        ...(filters.from && { from_date: filters.from }),
        ...(filters.to && { to_date: filters.to }),
        ...((direction === 'inbound' || direction === 'outbound') && { direction }),
        ...(before && { before }),
      },
      signal,
    });
    return page.data.calls;
  });
  if (loaded.problem) return <ProblemNote problem={loaded.problem} again={loaded.reload} />;
  if (!loaded.data) return <Loading />;
  const isFiltered = Object.values(filters).some((value) => value !== '');
  if (loaded.data.length === 0 && before === '') {
    if (isFiltered) return <Empty title={texts.calls.noMatch}>{texts.calls.noMatchNext}</Empty>;
    return <Empty title={texts.calls.empty}>{texts.calls.emptyNext}</Empty>;
  }
  return (
    <>
      <Table
        name={texts.calls.title}
        rows={loaded.data}
        columns={CallColumns}
        keyOf={(call: LoggedCall) => call.id}
      />
      <Pager
        filters={filters}
        before={before}
        last={loaded.data.at(-1)?.id ?? ''}
        full={loaded.data.length === pageRows}
      />
    </>
  );
}

interface PagerProps {
  readonly filters: Readonly<Record<string, string>>;
  readonly before: string;
  readonly last: string;
  /** A page with fewer rows is the last one. */
  readonly full: boolean;
}

function Pager({ filters, before, last, full }: PagerProps) {
  const path = pathTo('calls');
  return (
    <nav class="row pager" aria-label={texts.lists.pages}>
      {before !== '' && <a href={withQuery(path, filters)}>{texts.lists.newest}</a>}
      {full ? (
        <a href={withQuery(path, { ...filters, before: last })}>{texts.lists.older}</a>
      ) : (
        <span class="quiet">{texts.lists.noMore}</span>
      )}
    </nav>
  );
}
