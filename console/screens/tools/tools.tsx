/** The tools of the organization, and a new one. */
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { useLoaded } from '../../parts/load.ts';
import { PageLinks, pageNumberOf } from '../../parts/pages.tsx';
import { Badge, Empty, LoadState, Screen, Time, type Tone } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { navigate, pathTo, query, withQuery } from '../../router.ts';
import { tools as words } from '../../text/tools.ts';
import { type ToolBody, ToolForm } from './tool-form.tsx';

type Row = Answer<'GET /v2/tools'>['data']['tools'][number];

/** Rows of a page. */
const pageRows = 50;
const { head } = words;
const tones: Readonly<Record<keyof typeof words.states, Tone>> = {
  active: 'good',
  inactive: 'quiet',
  draft: 'warn',
};

const stateOf = ({ is_draft: draft, is_active: active }: Row) =>
  draft ? 'draft' : active ? 'active' : 'inactive';

const columns: readonly Column<Row>[] = [
  {
    head: head.name,
    cell: ({ id, name }) => (
      <a class="row-link" href={pathTo('tool', id)}>
        {name}
      </a>
    ),
  },
  {
    head: head.action,
    cell: ({ integration, action }) => (
      <code>
        {integration} {action}
      </code>
    ),
    from: 'medium',
  },
  { head: head.description, cell: ({ description }) => description, grows: true, from: 'wide' },
  {
    head: head.state,
    cell: (row) => <Badge tone={tones[stateOf(row)]}>{words.states[stateOf(row)]}</Badge>,
  },
  { head: head.updated, cell: (row) => <Time at={row.updated_at} />, from: 'medium' },
];

export function Tools() {
  useTitle(words.title);
  const search = query.value.get('search') ?? '';
  const page = pageNumberOf(pageRows);
  const loaded = useLoaded(
    `tools ${page} ${search}`,
    async (signal) => {
      const asked = { page, limit: pageRows, ...(search !== '' && { search }) };
      return (await request('GET /v2/tools', { query: asked, signal })).data;
    },
    usual,
  );
  const create = async (body: ToolBody) => {
    const { data } = await request('POST /v2/tools', { body });
    navigate(pathTo('tool', data.id));
  };
  const { data } = loaded;
  return (
    <Screen title={words.title}>
      <p class="quiet">{words.intro}</p>
      {mayChange.value && (
        <details class="card">
          <summary>{words.create}</summary>
          <ToolForm tool={null} label={words.create} submit={words.add} run={create} />
        </details>
      )}
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          const chosen = textOf(new FormData(event.currentTarget), 'search');
          navigate(withQuery(pathTo('tools'), { search: chosen }));
        }}
      >
        <label class="grows">
          {words.search}
          <input name="search" data-search maxLength={200} defaultValue={search} />
        </label>
        <button type="submit">{words.find}</button>
      </form>
      <LoadState of={loaded} />
      {data?.tools.length === 0 &&
        (search === '' ? (
          <Empty title={words.empty}>{words.emptyNext}</Empty>
        ) : (
          <Empty title={words.noMatch} />
        ))}
      {data && data.tools.length > 0 && (
        <Table name={words.title} rows={data.tools} columns={columns} keyOf={({ id }) => id} />
      )}
      {data && <PageLinks rows={pageRows} hasMore={data.pagination.hasMore} />}
    </Screen>
  );
}
