/** The pathways, each with the way to its quality. */
import { type Answer, request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf, PageLinks } from '../../parts/pages.tsx';
import { Empty, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address, pathTo } from '../../router.ts';
import { pathways } from '../../text/pathways.ts';
import { quality } from '../../text/quality.ts';
import { tests } from '../../text/tests.ts';

type Row = Answer<'GET /v1/pathway'>[number];

/** Rows of a page; the list has no total in its body, so one more is asked for. */
const pageRows = 50;

const words = quality.list;
const { head } = words;

const version = (number: number | null) => (number === null ? words.none : tests.version(number));

const columns: readonly Column<Row>[] = [
  {
    head: head.name,
    cell: ({ name, pathway_id }) => (
      <a class="row-link" href={pathTo('pathwayQuality', pathway_id)}>
        {name}
      </a>
    ),
    grows: true,
  },
  { head: head.production, cell: (row) => version(row.production_version) },
  { head: head.staging, cell: (row) => version(row.staging_version), from: 'medium' },
  { head: head.changed, cell: (row) => <Time at={row.updated_at} />, from: 'medium' },
];

export function Qualities() {
  useTitle(quality.title);
  const loaded = useLoaded(
    address.value,
    (signal) =>
      request('GET /v1/pathway', {
        query: { graphs: false, limit: pageRows + 1, offset: offsetOf() },
        signal,
      }),
    usual,
  );
  const { data } = loaded;
  return (
    <Screen title={quality.title}>
      <LoadState of={loaded} />
      {data?.length === 0 && (
        <Empty title={words.empty}>
          {words.emptyNext} <a href={pathTo('pathways')}>{pathways.goTo}</a>
        </Empty>
      )}
      {data && data.length > 0 && (
        <Table
          name={quality.title}
          rows={data.slice(0, pageRows)}
          columns={columns}
          keyOf={({ pathway_id }) => pathway_id}
        />
      )}
      {data && <PageLinks rows={pageRows} hasMore={data.length > pageRows} />}
    </Screen>
  );
}
