/** The call log, and the search in what was said. Filters and page are in the address, so Back and links work. */
import type { TargetedSubmitEvent } from 'preact';
import { request } from '../api/client.ts';
import { callColumns, type LoggedCall } from '../parts/call-columns.tsx';
import { useLoaded } from '../parts/load.ts';
import { beforeOf, OlderLinks } from '../parts/pages.tsx';
import { Empty, LoadState, Screen } from '../parts/pieces.tsx';
import { type Renewal, seldom } from '../parts/renewal.ts';
import { Table } from '../parts/table.tsx';
import { useTitle } from '../parts/title.ts';
import { address, navigate, pathTo, query, withQuery } from '../router.ts';
import { texts } from '../text/texts.ts';
import { CallFilters, filterNames } from './call-filters.tsx';
import { Later } from './later.tsx';
import { SavedViews } from './saved-views.tsx';
import { SpokenLines } from './spoken-lines.tsx';

/** Rows of a page. */
const pageRows = 50;
/** A busy organization has several calls a second; those of old pages are over. */
const newCalls: Renewal = { events: { types: 'call' }, gapMs: 5000 };

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
      <SavedViews filters={filters} />
      {words === '' && <Sums filters={filters} />}
      {words === '' ? <Log filters={filters} /> : <SpokenLines words={words} />}
    </Screen>
  );
}

/** How the calls of this time were altogether; drawn once its code is there. */
function Sums({ filters }: { filters: Readonly<Record<string, string>> }) {
  const { from = '', to = '', direction = '', trunk = '' } = filters;
  const asked = new URLSearchParams({ from, to, direction, trunk }).toString();
  return <Later key={asked} id={asked} load={sums} />;
}

const sums = () => import('./call-sums/call-sums.tsx').then((one) => one.CallSums);

function Log({ filters }: { filters: Readonly<Record<string, string>> }) {
  const before = beforeOf();
  const loaded = useLoaded(
    address.value,
    async (signal) => {
      const { direction } = filters;
      const page = await request('GET /v1/sip/calls', {
        query: {
          limit: pageRows,
          ...(filters.number && { phone_number: filters.number }),
          ...(filters.outcome && { status: filters.outcome }),
          ...(filters.from && { from_date: filters.from }),
          ...(filters.to && { to_date: filters.to }),
          ...((direction === 'inbound' || direction === 'outbound') && { direction }),
          ...(filters.other && { other_party: filters.other }),
          ...(filters.termination && { termination: filters.termination }),
          ...(filters.mos && { max_mos: Number(filters.mos) }),
          ...(filters.trunk && { trunk_id: filters.trunk }),
          ...(before && { before }),
        },
        signal,
      });
      return page.data;
    },
    before === '' ? newCalls : seldom,
  );
  if (!loaded.data) return <LoadState of={loaded} />;
  const isFiltered = Object.values(filters).some((value) => value !== '');
  const { calls, next } = loaded.data;
  if (calls.length === 0 && before === '' && next === null) {
    if (isFiltered) return <Empty title={texts.calls.noMatch}>{texts.calls.noMatchNext}</Empty>;
    return <Empty title={texts.calls.empty}>{texts.calls.emptyNext}</Empty>;
  }
  return (
    <>
      <LoadState of={loaded} />
      {calls.length === 0 && next !== null && <p class="quiet">{texts.calls.searched}</p>}
      <Table
        name={texts.calls.title}
        rows={calls}
        columns={callColumns}
        keyOf={(call: LoggedCall) => call.id}
      />
      <OlderLinks next={next} />
    </>
  );
}
