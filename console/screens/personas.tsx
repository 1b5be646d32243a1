/** The personas of the organization, each with a call to it. */
import { type Answer, request } from '../api/client.ts';
import { useLoaded } from '../parts/load.ts';
import { PageLinks, pageNumberOf } from '../parts/pages.tsx';
import { Empty, LoadState, Screen, Time } from '../parts/pieces.tsx';
import { usual } from '../parts/renewal.ts';
import { type Column, Table } from '../parts/table.tsx';
import { useTitle } from '../parts/title.ts';
import { TalkButton } from '../phone/talk-button.tsx';
import { personas as words } from '../text/personas.ts';

type Persona = Answer<'GET /v1/personas'>['data'][number];

/** Rows of a page. */
const pageRows = 50;
const { head } = words;

const columns: readonly Column<Persona>[] = [
  { head: head.name, cell: ({ name }) => name },
  {
    head: head.role,
    cell: ({ role, description }) => role ?? description ?? '–',
    grows: true,
    from: 'medium',
  },
  {
    head: head.numbers,
    cell: ({ inbound_numbers: numbers }) => numbers.map((one) => one.phone_number).join(', ') || '–',
    from: 'wide',
  },
  { head: head.changed, cell: (one) => <Time at={one.updated_at} />, from: 'medium' },
  { head: head.talk, cell: ({ id, name }) => <TalkButton name={name} session={{ persona_id: id }} /> },
];

export function Personas() {
  useTitle(words.title);
  const page = pageNumberOf(pageRows);
  const loaded = useLoaded(
    `personas ${page}`,
    (signal) => request('GET /v1/personas', { query: { page, limit: pageRows }, signal }),
    usual,
  );
  const { data } = loaded;
  return (
    <Screen title={words.title}>
      <p class="quiet">{words.intro}</p>
      <LoadState of={loaded} />
      {data?.data.length === 0 && <Empty title={words.empty}>{words.emptyNext}</Empty>}
      {data && data.data.length > 0 && (
        <Table name={words.title} rows={data.data} columns={columns} keyOf={({ id }) => id} />
      )}
      {data && <PageLinks rows={pageRows} hasMore={data.data.length === pageRows} />}
    </Screen>
  );
}
