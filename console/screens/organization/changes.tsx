/** The log of changes: who changed what. Filters and page are in the address. */
import type { TargetedSubmitEvent } from 'preact';
import { type Answer, request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { beforeOf, OlderLinks } from '../../parts/pages.tsx';
import { Empty, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { unchanging, usual } from '../../parts/renewal.ts';
import { textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address, navigate, pathTo, query, withQuery } from '../../router.ts';
import { organization } from '../../text/organization.ts';
import { areas } from './areas.ts';

type Entry = Answer<'GET /v1/org/audit'>['data']['entries'][number];

/** Rows of a page. */
const pageRows = 50;

const words = organization.changes;
const { head } = words;
const filterNames = ['area', 'subject_id', 'actor', 'from_date', 'to_date'] as const;

const columns: readonly Column<Entry>[] = [
  { head: head.at, cell: ({ at }) => <Time at={at} /> },
  {
    head: head.who,
    cell: ({ actor }) => (
      <>
        {words.kinds[actor.kind]} {actor.key !== null && <code>{actor.key}…</code>}
      </>
    ),
    from: 'medium',
  },
  { head: head.area, cell: ({ area }) => <code>{area}</code> },
  { head: head.action, cell: ({ action }) => action },
  { head: head.subject, cell: (entry) => <code>{entry.subject_id}</code>, grows: true },
  { head: head.fields, cell: (entry) => entry.changed_fields.join(', '), from: 'wide', grows: true },
];

export function Changes() {
  useTitle(words.title);
  const filters = Object.fromEntries(filterNames.map((name) => [name, query.value.get(name) ?? '']));
  const before = beforeOf();
  const loaded = useLoaded(
    address.value,
    async (signal) => {
      const given = Object.fromEntries(
        Object.entries({ ...filters, before }).filter(([, value]) => value !== ''),
      );
      const { data } = await request('GET /v1/org/audit', { query: { limit: pageRows, ...given }, signal });
      return data.entries;
    },
    before === '' ? usual : unchanging,
  );
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const chosen = Object.fromEntries(filterNames.map((name) => [name, textOf(form, name)]));
    navigate(withQuery(pathTo('changes'), chosen));
  };
  const { data } = loaded;
  return (
    <Screen title={words.title}>
      <p class="quiet">{words.intro}</p>
      <Filters key={address.value} values={filters} submit={submit} />
      <LoadState of={loaded} />
      {data?.length === 0 && <Empty title={words.empty}>{words.emptyNext}</Empty>}
      {data && data.length > 0 && (
        <>
          <Table name={words.title} rows={data} columns={columns} keyOf={({ id }) => id} />
          <OlderLinks next={data.length === pageRows ? (data.at(-1)?.id ?? null) : null} />
        </>
      )}
    </Screen>
  );
}

interface FiltersProps {
  readonly values: Readonly<Record<string, string>>;
  readonly submit: (event: TargetedSubmitEvent<HTMLFormElement>) => void;
}

function Filters({ values, submit }: FiltersProps) {
  return (
    <form class="filters" onSubmit={submit}>
      <label>
        {words.area}
        <select name="area">
          <option value="">{words.all}</option>
          {areas.map((area) => (
            <option key={area} value={area} selected={area === values.area}>
              {area}
            </option>
          ))}
        </select>
      </label>
      <label class="grows">
        {words.subject}
        <input name="subject_id" data-search maxLength={128} defaultValue={values.subject_id ?? ''} />
      </label>
      <label>
        {words.actor}
        <input name="actor" maxLength={64} defaultValue={values.actor ?? ''} />
      </label>
      <label>
        {words.from}
        <input name="from_date" type="date" defaultValue={values.from_date ?? ''} />
      </label>
      <label>
        {words.to}
        <input name="to_date" type="date" defaultValue={values.to_date ?? ''} />
      </label>
      <button type="submit" class="primary">
        {words.go}
      </button>
    </form>
  );
}
